import type { Io } from '../../contract/io.ts'
import type { Servable } from '../../call/servable.ts'
import type { Command } from './argv/command.ts'
import { printText } from './print-document.ts'

/** Prints the help that fits a command; gives the exit status. */
export async function printHelp(set: Servable, command: Command, io: Io): Promise<number> {
  const { helpText } = await import('./help/help.ts')
  const sketch = await set.sketch()
  return printText(
    io,
    helpText(set.command === undefined ? sketch : { ...sketch, name: set.command }, command, io),
  )
}
