import { isObject } from '../../../contract/json.ts'
import { exchangeWord, readEntries } from '../formats/edit.ts'
import type { Slot } from '../formats/edit.ts'
import type { Config, Made } from '../formats/format.ts'
import { readMark, writeMark } from './mark.ts'
import type { Mark } from './mark.ts'
import type { Place } from './places.ts'

/** The text with what was made for one entry written down in another of ours, whoever's program it is: the last one to go takes it along. Without such an entry nothing changes. */
export function handOver(
  text: string,
  slot: Omit<Slot, 'name'>,
  servers: Place['servers'],
  made: Made,
): string {
  if (Object.keys(made).length === 0) return text
  for (const [name, entry] of Object.entries(readEntries(text, slot))) {
    const mark = isObject(entry) ? readMark(entry, servers) : undefined
    if (mark) return extendMark(text, { ...slot, name }, entry as Config, mark, made)
  }
  return text
}

function extendMark(
  text: string,
  slot: Slot,
  entry: Config,
  { program, digest, made: own, text: old }: Mark,
  made: Made,
): string {
  const mark = writeMark(program, digest, {
    ...own,
    ...made,
    folders: (own.folders ?? 0) + (made.folders ?? 0),
  })
  const after = JSON.parse(
    JSON.stringify(entry).replaceAll(JSON.stringify(old), JSON.stringify(mark)),
  ) as Config
  return exchangeWord(text, slot, after, old, mark)
}
