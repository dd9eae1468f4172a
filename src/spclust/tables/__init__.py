"""Tables in files: formats, readers, batches, bad rows and writers."""
