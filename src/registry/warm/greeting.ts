import type { JsonObject } from '../../contract/json.ts'
import { SERVE_VERSION } from '../../contract/serve-protocol.ts'
import { WarmUnavailable } from './warm-type.ts'

const MOST_STRAYS = 1000

/** The first line of a program, which says that it serves, and the wait for it. */
export class Greeting {
  /** Resolves when it came; rejects with WarmUnavailable when it does not come any more. */
  readonly heard: Promise<void>
  came = false
  #settle!: () => void
  #refuse!: (error: WarmUnavailable) => void
  #strays = 0
  readonly #slow: NodeJS.Timeout

  /** `giveUp` is called when it did not come in time. */
  constructor(
    milliseconds: number,
    readonly giveUp: () => void,
  ) {
    this.heard = new Promise((settle, refuse) => {
      this.#settle = settle
      this.#refuse = refuse
    })
    // Those who wait for it hear of it; whether anybody does, nobody knows.
    this.heard.catch(() => undefined)
    this.#slow = setTimeout(
      () => this.#stop(`it did not say within ${milliseconds / 1000} seconds that it serves`),
      milliseconds,
    )
  }

  /** Takes a line of the program. What a library prints before it can be stopped is no reason to give up, a flood of it is. */
  take(line: JsonObject | undefined): void {
    if (line?.['serve'] === SERVE_VERSION) {
      clearTimeout(this.#slow)
      this.came = true
      this.#settle()
    } else if (++this.#strays === MOST_STRAYS)
      this.#stop('it says many other things instead of serving')
  }

  /** It will not come any more. */
  fail(why: string): void {
    clearTimeout(this.#slow)
    this.#refuse(new WarmUnavailable(why))
  }

  #stop(why: string): void {
    this.fail(why)
    this.giveUp()
  }
}
