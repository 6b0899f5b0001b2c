import type { Exchange } from './exchange.ts'

type Waiting = { readonly line: string; readonly exchange: Exchange | undefined }

/** Lines on their way to a program: the first leaves at once, and what comes while the pipe is busy leaves together. */
export class Outbox {
  #waiting: Waiting[] = []
  #busy = false

  /** `write` gives undefined where nothing can be written: what was not sent may go to another process. */
  constructor(readonly write: (lines: string) => Promise<boolean> | undefined) {}

  /** Sends a line; its exchange is told when it has left. */
  send(line: string, exchange?: Exchange): void {
    this.#waiting.push({ line, exchange })
    if (!this.#busy) this.#flush()
  }

  /** Takes back a request that has not left. */
  drop(exchange: Exchange): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting.exchange !== exchange)
  }

  #flush(): void {
    this.#busy = false
    if (this.#waiting.length === 0) return
    const batch = this.#waiting
    const taken = this.write(
      batch.length === 1 ? batch[0]!.line : batch.map(({ line }) => line).join('\n'),
    )
    if (!taken) return
    this.#waiting = []
    for (const { exchange } of batch) if (exchange) exchange.sent = true
    this.#busy = true
    void taken.then(() => this.#flush())
  }
}
