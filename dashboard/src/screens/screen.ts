/** What a screen gets: the parts of the path, its own name first, and the query. */
export type ScreenProps = { readonly parts: readonly string[]; readonly query: URLSearchParams }
