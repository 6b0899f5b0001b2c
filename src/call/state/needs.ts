import { ToolError } from '../../contract/tool-error.ts'

/** Which members need which while they are opened. */
export class Needs {
  readonly #of = new Map<string, Set<string>>()

  /** Notes that one waits for another; throws CONFIG where that closes a circle, also one whose ends were opened apart from each other. */
  add(key: string, needed: string): void {
    const way = this.#way(needed, key)
    if (way)
      throw new ToolError(
        'CONFIG',
        `members need each other in a circle: ${[...way, needed].join(' → ')}`,
      )
    const all = this.#of.get(key)
    if (all) all.add(needed)
    else this.#of.set(key, new Set([needed]))
  }

  /** It is open, or cannot be opened: it waits for nobody any more. */
  settle(key: string): void {
    this.#of.delete(key)
  }

  #way(from: string, to: string): readonly string[] | undefined {
    if (from === to) return [to]
    for (const next of this.#of.get(from) ?? []) {
      const way = this.#way(next, to)
      if (way) return [from, ...way]
    }
    return undefined
  }
}
