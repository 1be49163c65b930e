"""What models read and write: given texts fenced, thoughts and fences off, JSON mended."""
