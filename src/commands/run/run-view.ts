import type { Io } from '../../contract/io.ts'
import type { RunEvent } from '../../contract/run-state.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'
import type { ChosenProgress } from '../progress/progress-flag.ts'
import { openPrinter } from '../runs/line-printer.ts'
import type { AskPerson } from './channels.ts'
import type { SeenRun, ViewPart } from './view-part.ts'
import { openWordsView } from './words-view.ts'

/** What is seen of a run in the foreground. */
export type RunView = {
  show(lines: string): Promise<void>
  readonly ask?: AskPerson
  sumUp(): Promise<void>
  close(): Promise<void>
}

/** Opens the view of a run: what stdout carries, and what is shown beside it. With `bare`, somebody has only asked about the tool, and sees its words alone. */
export async function openRunView(
  run: SeenRun,
  { progress, bare }: { readonly progress: ChosenProgress; readonly bare: boolean },
): Promise<RunView> {
  const { io, globals } = run
  const forPeople = choosePresentation(globals, io, findCaller(io.env)).mode === 'text'
  const tree =
    progress === 'tree' && !bare
      ? await (
          await import('./tree-view.ts')
        ).openTreeView(run, { result: forPeople && io.stdout.isTTY })
      : undefined
  const parts: readonly ViewPart[] = [
    ...(forPeople ? await wordsFor(run, progress, bare) : [recordOn(io.stdout)]),
    ...(bare ? [] : await besides(run, progress)),
  ]
  const show = async (lines: string): Promise<void> => {
    let read: readonly RunEvent[] | undefined
    const events = (): readonly RunEvent[] =>
      (read ??= lines
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as RunEvent))
    for (const part of parts) await part.show(lines, events)
    await tree?.show(lines, events)
  }
  const ask = tree?.ask ?? parts.find((part) => part.ask)?.ask
  return {
    // Two that write on one terminal take turns.
    show: (lines) =>
      tree && parts.length > 0 && io.stdout.isTTY ? tree.aside(() => show(lines)) : show(lines),
    ...(ask && { ask }),
    async sumUp() {
      for (const part of parts) await part.sumUp?.()
      await tree?.sumUp()
    },
    close: async () => tree?.close(),
  }
}

// At a terminal a tree, or nothing, leaves stdout to the result.
async function wordsFor(
  run: SeenRun,
  progress: ChosenProgress,
  bare: boolean,
): Promise<readonly ViewPart[]> {
  const { io, globals } = run
  if (bare || progress === 'words' || (progress === 'tree' && !io.stdout.isTTY))
    return [openWordsView(run, openPrinter({ io, globals }), bare)]
  return progress === 'tree' ? [] : [await (await import('./result-view.ts')).openResultView(run)]
}

async function besides(run: SeenRun, progress: ChosenProgress): Promise<readonly ViewPart[]> {
  const { io, globals } = run
  if (progress === 'events-beside') return [recordOn(io.stderr)]
  return progress === 'words-beside'
    ? [openWordsView(run, openPrinter({ io, globals }, { beside: true }), false)]
    : []
}

// What is on record is shown to programs as it stands there.
function recordOn(sink: Io['stdout']): ViewPart {
  return { show: (lines) => sink.send(lines) }
}
