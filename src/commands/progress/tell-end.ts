import type { Io } from '../../contract/io.ts'
import type { RunEvent } from '../../contract/run-state.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { Globals } from '../../surfaces/cli/argv/globals.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'
import { renderText } from '../../surfaces/cli/output/text/render.ts'
import type { RunModel } from '../../views/model/run-model/run-model-type.ts'
import { closingLines } from '../../views/terminal/closing.ts'
import type { Look } from '../../views/terminal/look.ts'
import { keptFiles, startFacts } from '../run/run-facts.ts'
import { findGoOn } from '../../workflow/run/find-go-on.ts'
import { logPath } from './read-tail.ts'

/** What has to be known of a run when it is over; fed with its events. */
export type EndTeller = {
  add(event: RunEvent): void
  /** Prints the result on stdout, for people who look at nothing else there. */
  result(): Promise<void>
  /** Prints the last lines on stderr. */
  last(): Promise<void>
}

type Told = {
  readonly request: Pick<RunRequest, 'run_id' | 'tool' | 'created' | 'command'>
  /** Undefined for what has no folder. */ readonly paths: RunPaths | undefined
  readonly root: string
  readonly model: RunModel
  readonly look: Look
  readonly io: Io
  readonly globals: Globals
}

/** Tells the end of a run in words. */
export function openEndTeller({ request, paths, root, model, look, io, globals }: Told): EndTeller {
  const facts = startFacts(request)
  let plain = false
  return {
    add(event) {
      facts.add(event)
      // What a plain program printed has been seen line by line.
      if (event.type === 'result') plain = Object.hasOwn(event, 'exit_status')
    },
    async result() {
      if (
        plain ||
        model.state !== 'completed' ||
        model.result === undefined ||
        model.result === null
      )
        return
      const { columns, color } = choosePresentation(globals, io, findCaller(io.env))
      await io.stdout.send(renderText(model.result, { columns, color }))
      await io.stdout.flush()
    },
    async last() {
      const run = facts.current()
      const goOn = paths && (await findGoOn(paths, request, run))
      const lines = closingLines(model, {
        look,
        files: paths ? keptFiles(run, paths, io.cwd) : [],
        goOn,
        log: paths && logPath(root, paths.id, io.cwd),
        quiet: globals.quiet === true,
      })
      await io.stderr.send(lines.map((line) => `${line}\n`).join(''))
    },
  }
}
