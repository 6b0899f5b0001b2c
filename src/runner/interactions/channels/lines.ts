import type { ByteSource } from '../../../contract/io.ts'
import { parseObject } from '../../../contract/json.ts'
import { shorten } from '../../../contract/shorten.ts'
import { splitLines } from '../../../process/lines.ts'
import type { AnswerChannel } from '../broker.ts'

const LONGEST_LINE = 1024 * 1024
const LONGEST_SHOWN = 100

/** Takes answers from an agent that writes JSON lines: `{"id": "...", "value": ...}`, where the id may also be the key or the action of the question, or only `{"value": ...}` for the oldest open one. `onIgnored` hears of lines that are no answers, and of answers to what is not asked now, which wait for their question. */
export function lineChannel(
  source: Pick<ByteSource, 'bytes' | 'close'>,
  onIgnored: (problem: string) => void = () => undefined,
): AnswerChannel & { close(): void } {
  const open: {
    readonly names: readonly unknown[]
    readonly give: (answer: { readonly value: unknown } | undefined) => void
  }[] = []
  const early: { readonly id: unknown; readonly value: unknown }[] = []
  let over = false
  let reading: Promise<void> | undefined

  const take = (line: string): void => {
    const message = parseObject(line)
    if (!message || !Object.hasOwn(message, 'value')) {
      if (line.trim() !== '')
        onIgnored(
          `this line on stdin is no answer: ${shorten(line, LONGEST_SHOWN)} (write {"id": "...", "value": ...})`,
        )
      return
    }
    const { id, value } = message
    const index = id === undefined ? 0 : open.findIndex(({ names }) => names.includes(id))
    const [asked] = index < 0 ? [] : open.splice(index, 1)
    if (asked) return asked.give({ value })
    if (id !== undefined && open.length > 0)
      onIgnored(
        `nobody asks '${shorten(String(id), LONGEST_SHOWN)}' now; open is ${open.map(({ names }) => `'${String(names[0])}'`).join(', ')}`,
      )
    early.push({ id, value })
  }
  const read = async (): Promise<void> => {
    const lines = splitLines(LONGEST_LINE, take)
    try {
      for await (const chunk of source.bytes()) lines.push(Buffer.from(chunk))
      lines.finish()
    } catch {
      /* a source that breaks is one that is over */
    }
    over = true
    for (const { give } of open.splice(0)) give(undefined)
  }

  return {
    name: 'stdin',
    answer({ id, key, action }, signal) {
      reading ??= read()
      const names = [id, key, action].filter((name) => name !== undefined)
      const known = early.findIndex(
        (one) => one.id === undefined || names.includes(one.id as string),
      )
      if (known >= 0) return Promise.resolve({ value: early.splice(known, 1)[0]!.value })
      if (over) return Promise.resolve(undefined)
      return new Promise((resolve) => {
        const entry = { names, give: resolve }
        open.push(entry)
        signal.addEventListener(
          'abort',
          () => {
            const index = open.indexOf(entry)
            if (index >= 0) open.splice(index, 1)
            resolve(undefined)
          },
          { once: true },
        )
      })
    },
    close: () => source.close(),
  }
}
