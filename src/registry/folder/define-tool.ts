import { dirname } from 'node:path'
import type { ToolDefinition } from '../../define/tool-type.ts'
import { look } from '../cache/stamp.ts'
import type { ChildCall } from '../child/child-call.ts'
import { expandValues } from '../expand-variables.ts'
import { defineForeign } from '../foreign/define-foreign.ts'
import type { ForeignRun } from '../foreign/define-foreign.ts'
import type { ToolFile } from '../manifests/manifest.ts'
import { readManifestBody, readProgramBody } from './body.ts'
import type { ProgramBody } from './body.ts'
import { checkFile } from './check-file.ts'
import type { Home } from './home.ts'
import type { WholeTool } from './outline.ts'
import { readHead } from './read-head.ts'
import type { Known } from './remember.ts'
import { commandOf, isExecutable, pythonOf, runnerOf } from './runner.ts'
import { withCodes } from './with-codes.ts'

// Several tools of one program are read once.
const bodies = new WeakMap<Known, ProgramBody>()

/** The definition of a program's tool, by its place among the tools of the program. */
export function defineOfProgram(home: Home, known: Known, wanted: string, index: number): ToolDefinition {
  const body = bodies.get(known) ?? readProgramBody(known.record.body)
  bodies.set(known, body)
  return define(home, known, wanted, body.tools[index]!)
}

/** The definition of the tool that a manifest describes, run by the program at `path`. */
export function defineOfManifest(home: Home, known: Known, wanted: string, path: string): ToolDefinition {
  const { name, facts, call, runner = runnerOf(path) } = readManifestBody(known.record.body) as ToolFile
  const python = runner === 'python' ? pythonOf(home.folder, dirname(path)) : ''
  const command = commandOf(path, runner, python, readHead(path), isExecutable(look(path)?.mode ?? 0))
  return define(home, known, wanted, { name, facts, call: { ...call, command } }, path)
}

function define(home: Home, known: Known, wanted: string, { facts, call }: WholeTool, program?: string): ToolDefinition {
  const codes = home.codes()
  const run = runIn(home, known, call, program)
  if (Object.keys(codes).length === 0) return defineForeign(wanted, facts, run)
  return defineForeign(wanted, { ...facts, errors: { ...codes, ...facts.errors } }, async (input, ctx) => {
    try {
      return await run(input, ctx)
    } catch (error) {
      throw withCodes(error, codes)
    }
  })
}

function runIn(home: Home, known: Known, call: ChildCall, program: string | undefined): ForeignRun {
  let run: ForeignRun | undefined
  return async (input, ctx) => {
    const looked = await checkFile(home, known, program)
    if (run) return run(input, ctx, looked)
    run = await runnerFor(home, known, call)
    return run(input, ctx)
  }
}

async function runnerFor({ env, given, services }: Home, { candidate }: Known, call: ChildCall): Promise<ForeignRun> {
  const { childRunner } = await import('../child/child-runner.ts')
  // What the host's environment says may be secret: it is taken at the call, and never remembered.
  const variables = { ...expandValues(call.env, env, candidate.key), ...given }
  return childRunner(Object.keys(variables).length === 0 ? call : { ...call, env: variables }, services)
}
