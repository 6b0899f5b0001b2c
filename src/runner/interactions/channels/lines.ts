import type { ByteSource } from '../../../contract/io.ts'
import { parseObject } from '../../../contract/json.ts'
import { splitLines } from '../../../process/lines.ts'
import type { AnswerChannel } from '../broker.ts'

const LONGEST_LINE = 1024 * 1024

/** Takes answers from an agent that writes JSON lines: `{"id": "...", "value": ...}`, or only `{"value": ...}` for the oldest open question. */
export function lineChannel(source: Pick<ByteSource, 'bytes' | 'close'>): AnswerChannel & { close(): void } {
  const open: { readonly id: string; readonly give: (answer: { readonly value: unknown } | undefined) => void }[] = []
  const early: { readonly id: unknown; readonly value: unknown }[] = []
  let over = false
  let reading: Promise<void> | undefined

  const take = (line: string): void => {
    const message = parseObject(line)
    if (!message || !Object.hasOwn(message, 'value')) return
    const { id, value } = message
    const index = id === undefined ? 0 : open.findIndex((one) => one.id === id)
    const [asked] = index < 0 ? [] : open.splice(index, 1)
    if (asked) asked.give({ value })
    else early.push({ id, value })
  }
  const read = async (): Promise<void> => {
    const lines = splitLines(LONGEST_LINE, take)
    try {
      for await (const chunk of source.bytes()) lines.push(Buffer.from(chunk))
      lines.finish()
    } catch { /* a source that breaks is one that is over */ }
    over = true
    for (const { give } of open.splice(0)) give(undefined)
  }

  return {
    name: 'stdin',
    answer({ id }, signal) {
      reading ??= read()
      const known = early.findIndex((one) => one.id === undefined || one.id === id)
      if (known >= 0) return Promise.resolve({ value: early.splice(known, 1)[0]!.value })
      if (over) return Promise.resolve(undefined)
      return new Promise((resolve) => {
        const entry = { id, give: resolve }
        open.push(entry)
        signal.addEventListener('abort', () => {
          const index = open.indexOf(entry)
          if (index >= 0) open.splice(index, 1)
          resolve(undefined)
        }, { once: true })
      })
    },
    close: () => source.close(),
  }
}
