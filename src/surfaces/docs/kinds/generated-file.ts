/** A file that is made from a program. `path` is relative, with slashes. A `block` goes between marks in a file that people also write. */
export type GeneratedFile = { readonly path: string; readonly text: string; readonly block?: true }
