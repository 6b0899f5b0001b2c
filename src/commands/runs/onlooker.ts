import type { RunEvent } from '../../contract/run-state.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'
import { openPrinter } from './line-printer.ts'
import type { LinePrinter } from './line-printer.ts'
import type { Onlooker, Watching } from './onlooker-type.ts'

/** Opens what stdout carries of watched runs, and what is shown beside it. */
export async function openOnlooker(context: BuiltinContext, watching: Watching): Promise<Onlooker> {
  const { io, globals } = context
  const { progress, runs, since } = watching
  const named = runs.length > 1
  const forPeople = choosePresentation(globals, io, findCaller(io.env)).mode === 'text'
  const printers: readonly LinePrinter[] = [
    ...(!forPeople || progress === 'words' || (progress === 'tree' && !io.stdout.isTTY)
      ? [openPrinter(context, { named })]
      : []),
    ...(progress === 'words-beside' ? [openPrinter(context, { named, beside: true })] : []),
  ]
  const tree =
    progress === 'tree' || (forPeople && progress !== 'words')
      ? await (
          await import('./watch-tree.ts')
        ).openTreeOnlooker(context, watching, forPeople && io.stdout.isTTY)
      : undefined
  const print = async (events: readonly RunEvent[]): Promise<void> => {
    const wanted = events.filter(({ seq }) => seq >= since)
    for (const printer of printers) await printer.events(wanted)
    if (progress === 'events-beside')
      await io.stderr.send(wanted.map((event) => `${JSON.stringify(event)}\n`).join(''))
  }
  return {
    async see(run, events) {
      await (tree && printers.length > 0 && io.stdout.isTTY
        ? tree.aside(() => print(events))
        : print(events))
      await tree?.see(run, events)
    },
    get closed() {
      return io.stdout.closed === true
    },
    end: async () => tree?.end(),
  }
}
