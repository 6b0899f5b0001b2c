/**
 * Tells the end of a run: its result on stdout, the last lines on stderr. Also the view that shows nothing else.
 */

import { dirname } from 'node:path'
import { shouldUseColor } from '../../cli/formats/terminal-text.ts'
import { renderText } from '../../cli/formats/text.ts'
import { choosePresentation } from '../../cli/presentation.ts'
import type { GlobalFlags } from '../../define/global-flags.ts'
import type { Io } from '../../protocol/io.ts'
import type { RunEvent } from '../../protocol/run-state.ts'
import type { RunRequest } from '../../runner/request.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { applyEvent } from '../../views/model/run-model-events.ts'
import type { RunModel } from '../../views/model/run-model.ts'
import { createRunModel } from '../../views/model/run-model.ts'
import { renderClosing } from '../../views/terminal/run-words.ts'
import type { Theme } from '../../views/terminal/theme.ts'
import { createTheme, supportsUnicode } from '../../views/terminal/theme.ts'
import { findResumeCommand } from '../../workflow/lookup.ts'
import type { RunViewPart, ViewedRun } from './view-parts.ts'
import {
  createResumedSummary,
  getLogPath,
  listKeptFiles,
  readEarlierEvents,
  toRunModelInput,
} from './view-parts.ts'

/** What has to be known of a run when it is over; fed with its events. */
export type RunEndReporter = {
  add(event: RunEvent): void
  /** Prints the result on stdout, for people who look at nothing else there. */
  printResult(): Promise<void>
  /** Prints the last lines on stderr. */
  printLastLines(): Promise<void>
}

type RunEndOptions = {
  readonly request: Pick<RunRequest, 'run_id' | 'tool' | 'created' | 'command'>
  /** Undefined for what has no folder. */ readonly paths: RunPaths | undefined
  readonly root: string
  readonly model: RunModel
  readonly look: Theme
  readonly io: Io
  readonly globals: GlobalFlags
}

/** Tells the end of a run in words. */
export function createRunEndReporter({
  request,
  paths,
  root,
  model,
  look,
  io,
  globals,
}: RunEndOptions): RunEndReporter {
  const facts = createResumedSummary(request)
  let plain = false
  return {
    add(event) {
      facts.add(event)
      // What a plain program printed has been seen line by line.
      if (event.type === 'result') plain = Object.hasOwn(event, 'exit_status')
    },
    async printResult() {
      if (
        plain ||
        model.state !== 'completed' ||
        model.result === undefined ||
        model.result === null
      )
        return
      const { columns, color } = choosePresentation(globals, io)
      await io.stdout.send(renderText(model.result, { columns, color }))
      await io.stdout.flush()
    },
    async printLastLines() {
      const run = facts.current()
      const goOn = paths && (await findResumeCommand(paths, request, run))
      const lines = renderClosing(model, {
        look,
        files: paths ? listKeptFiles(run, paths, io.cwd) : [],
        goOn,
        log: paths && getLogPath(root, paths.id, io.cwd),
        quiet: globals.quiet === true,
      })
      await io.stderr.send(lines.map((line) => `${line}\n`).join(''))
    },
  }
}

/** The look of what is written to stderr. */
export function createStderrTheme({ env, stderr }: Io, { noColor }: GlobalFlags): Theme {
  return createTheme({
    color: shouldUseColor({ env, isTTY: stderr.isTTY, noColorFlag: noColor === true }),
    unicode: supportsUnicode(env),
  })
}

/** A run of which only the result is seen, and why there is none. */
export async function openResultView({
  paths,
  request,
  io,
  globals,
  resumed,
}: ViewedRun): Promise<RunViewPart> {
  const model = createRunModel(toRunModelInput(request))
  for await (const events of readEarlierEvents({ paths, resumed }))
    for (const event of events) applyEvent(model, event)
  const end = createRunEndReporter({
    request,
    paths,
    root: dirname(paths.folder),
    model,
    look: createStderrTheme(io, globals),
    io,
    globals,
  })
  return {
    async show(_lines, events) {
      for (const event of events()) {
        applyEvent(model, event)
        end.add(event)
      }
    },
    async sumUp() {
      await end.printResult()
      if (model.state !== 'completed') await end.printLastLines()
    },
  }
}
