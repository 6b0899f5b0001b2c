import type { Io } from '../../contract/io.ts'
import { toJsonText } from './output/json-text.ts'

/** Prints a bare JSON document; gives the exit status. */
export async function printDocument(io: Io, document: unknown, exit = 0): Promise<number> {
  await printText(io, `${toJsonText(document, 2)}\n`)
  return exit
}

/** Prints text as it is. */
export async function printText(io: Io, text: string): Promise<number> {
  io.stdout.write(text)
  await io.stdout.flush()
  return 0
}
