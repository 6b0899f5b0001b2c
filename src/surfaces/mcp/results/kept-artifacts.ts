const MOST_KEPT = 1000

/** The files that tools named as their artifacts, the newest thousand: only these can be read by their address. */
export class Artifacts {
  readonly #uris = new Set<string>()

  add(uri: string): void {
    if (!uri.startsWith('file:')) return
    this.#uris.delete(uri)
    this.#uris.add(uri)
    for (const oldest of this.#uris) {
      if (this.#uris.size <= MOST_KEPT) return
      this.#uris.delete(oldest)
    }
  }

  has(uri: string): boolean {
    return this.#uris.has(uri)
  }
}
