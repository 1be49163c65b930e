"""What models write, read: thoughts and fences taken off, JSON found and mended."""
