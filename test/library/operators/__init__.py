"""The cases of each module's operators; each file says where its expected values come from."""
from . import broadcasting, drawing, elementwise, images, indexing, networks, products, reductions, reshaping, windows

FAMILIES = [elementwise, broadcasting, reductions, reshaping, indexing, products, windows, networks, images, drawing]


def all_cases():
    for family in FAMILIES:
        yield from family.cases()
