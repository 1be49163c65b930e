"""What YAML may say: frozen pydantic models that refuse unknown keys and do no I/O."""
