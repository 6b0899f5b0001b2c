import type { Io } from '../../contract/io.ts'
import type { CallOptions } from '../../call/options.ts'
import type { Globals } from './argv/globals.ts'
import type { Host } from './host.ts'
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

/** How something is asked for a document. */
export function documentOptions({ timeout }: Globals, io: Io, { signal }: Host): CallOptions {
  return { cwd: io.cwd, env: io.env, signal, ...(timeout !== undefined && { timeout }) }
}
