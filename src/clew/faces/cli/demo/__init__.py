"""The bundled sample conversations and the tour through them."""
