#!/usr/bin/env python3
"""Draws the picture of examples/ocr: lines of text in DejaVu, one of them slanted, one upside down.

draw_text.py FILE.png     needs libfreetype.so.6 and Debian's fonts-dejavu-core.
"""
import ctypes as c
import math
import struct
import sys
import zlib

WIDTH, HEIGHT = 352, 192
FONTS = "/usr/share/fonts/truetype/dejavu/DejaVu"
# text, font, pixels, left end of the base line, angle in degrees, colour
LINES = [("Text in a picture", "Sans-Bold", 30, (18, 42), 0, (20, 30, 110)),
         ("detected, turned, read:", "Serif", 19, (40, 92), 5, (120, 20, 20)),
         ("three networks", "Sans", 21, (228, 100), 180, (0, 0, 0)),
         ("55,242,734 cycles", "SansMono", 20, (110, 174), 0, (20, 80, 20))]


class Bitmap(c.Structure):
    _fields_ = [("rows", c.c_uint), ("width", c.c_uint), ("pitch", c.c_int), ("buffer", c.POINTER(c.c_ubyte))]


class Pair(c.Structure):
    _fields_ = [("x", c.c_long), ("y", c.c_long)]


class Matrix(c.Structure):
    _fields_ = [(name, c.c_long) for name in ("xx", "xy", "yx", "yy")]


class Slot(c.Structure):
    """The beginning of FT_GlyphSlotRec."""
    _fields_ = [("library", c.c_void_p), ("face", c.c_void_p), ("next", c.c_void_p), ("index", c.c_uint), ("generic", c.c_void_p * 2),
                ("metrics", c.c_long * 8), ("advances", c.c_long * 2), ("advance", Pair), ("format", c.c_int), ("bitmap_head", Bitmap),
                ("bitmap_rest", c.c_void_p * 2), ("left", c.c_int), ("top", c.c_int)]


class Face(c.Structure):
    """The beginning of FT_FaceRec."""
    _fields_ = [("counts", c.c_long * 5), ("names", c.c_char_p * 2), ("sizes", c.c_int), ("size_list", c.c_void_p), ("maps", c.c_int),
                ("map_list", c.c_void_p), ("generic", c.c_void_p * 2), ("box", c.c_long * 4), ("units", c.c_short * 8),
                ("glyph", c.POINTER(Slot))]


def draw(ft, library, pixels, text, font, size, place, angle, colour):
    face = c.POINTER(Face)()
    assert ft.FT_New_Face(library, f"{FONTS}{font}.ttf".encode(), c.c_long(0), c.byref(face)) == 0, font
    ft.FT_Set_Pixel_Sizes(face, 0, size)
    sine, cosine = (round(f(math.radians(angle)) * 65536) for f in (math.sin, math.cos))
    matrix, pen = Matrix(cosine, -sine, sine, cosine), Pair(place[0] * 64, (HEIGHT - place[1]) * 64)
    for character in text:
        ft.FT_Set_Transform(face, c.byref(matrix), c.byref(pen))
        assert ft.FT_Load_Char(face, c.c_ulong(ord(character)), 4) == 0  # FT_LOAD_RENDER
        slot = face.contents.glyph.contents
        for y in range(slot.bitmap_head.rows):
            for x in range(slot.bitmap_head.width):
                ink = slot.bitmap_head.buffer[y * slot.bitmap_head.pitch + x]
                at = 3 * ((HEIGHT - slot.top + y) * WIDTH + slot.left + x)
                for k in range(3):
                    pixels[at + k] = (pixels[at + k] * (255 - ink) + colour[k] * ink + 127) // 255
        pen.x, pen.y = pen.x + slot.advance.x, pen.y + slot.advance.y
    ft.FT_Done_Face(face)


def write_png(path, pixels):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(pixels[3 * WIDTH * y:3 * WIDTH * (y + 1)]) for y in range(HEIGHT))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def main():
    ft, library = c.CDLL("libfreetype.so.6"), c.c_void_p()
    assert ft.FT_Init_FreeType(c.byref(library)) == 0
    pixels = bytearray(c for y in range(HEIGHT) for x in range(WIDTH) for c in (255 - y // 16, 252 - x // 32, 240))
    for line in LINES:
        draw(ft, library, pixels, *line)
    write_png(sys.argv[1], pixels)


if __name__ == "__main__":
    main()
