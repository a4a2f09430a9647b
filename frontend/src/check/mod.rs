//! Names, types, packs, optionality and binding order of definitions, proven without any invocation.
