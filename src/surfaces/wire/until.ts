import { onAbort } from '../../call/on-abort.ts'

/** Waits until something is so. Whoever may have made it so tells. */
export class Until {
  #look: (() => void) | undefined

  /** Something has changed. */
  tell(): void {
    this.#look?.()
  }

  /** Resolves when it is so, after a time, or when the signal aborts. */
  async wait(isSo: () => boolean, milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (isSo()) return
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        stopListening?.()
        this.#look = undefined
        resolve()
      }
      const timer = setTimeout(end, milliseconds)
      const stopListening = signal && onAbort(signal, end)
      this.#look = () => {
        if (isSo()) end()
      }
    })
  }
}
