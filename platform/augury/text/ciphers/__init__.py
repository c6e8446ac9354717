"""Ciphers: alphabets and the replacement of letters in them."""
