import { dirname } from 'node:path'
import type { FoundTool } from '../found.ts'
import { defineForeign } from '../foreign/define-foreign.ts'
import type { ForeignRun } from '../foreign/define-foreign.ts'
import type { ChildCall } from '../child/child-call.ts'
import type { ChildServices } from '../child/services.ts'
import { expandValues } from '../expand-variables.ts'
import type { ErrorCodes } from '../manifests/error-codes.ts'
import type { ToolFile } from '../manifests/manifest.ts'
import { readManifestBody, readProgramBody } from './body.ts'
import type { ProgramBody } from './body.ts'
import type { Outline, WholeTool } from './outline.ts'
import { readHead } from './read-head.ts'
import type { Known } from './remember.ts'
import { commandOf, isExecutable, pythonOf, runnerOf } from './runner.ts'
import { requireUnchanged } from './unchanged.ts'
import { withCodes } from './with-codes.ts'
import { look } from '../cache/stamp.ts'
import type { LookedAt } from '../cache/stamp.ts'

/** What the tools of one folder share. */
export type Home = {
  /** The real path. */
  readonly folder: string
  /** The name of the source. */
  readonly source: string
  readonly services: ChildServices
  /** The environment of the host, for `${NAME}`. */
  readonly env: { readonly [name: string]: string | undefined }
  /** Variables that the host gives to all tools of the folder. */
  readonly given: { readonly [name: string]: string }
  /** Error codes that all tools of the folder share. */
  readonly codes: () => ErrorCodes
  /** A call found that a file is not what it was. */
  readonly onStale: () => void
}

/** The tools of a program that was asked, or that has a manifest inside. Nothing is parsed before a tool is needed. */
export function toolsOfProgram(home: Home, known: Known, { how, tier, version, tools }: Outline & { readonly is: 'tools' }): FoundTool[] {
  const { path } = known.candidate
  let body: ProgramBody | undefined
  const whole = (index: number): WholeTool => (body ??= readProgramBody(known.record.body)).tools[index]!
  // Several tools of one program belong together.
  const source = tools.length > 1 ? known.candidate.name : home.source
  return tools.map(([name, summary, tags], index) => ({
    source, name, tier, kind: how, location: path, summary, tags,
    ...(version !== undefined && { version }),
    define: (wanted) => define(home, known, wanted, whole(index)),
  }))
}

/** The tool that a manifest describes, run by the program at `path`. */
export function toolOfManifest(home: Home, known: Known, { how, version, tools: [[name, summary, tags]] }: Outline & { readonly is: 'manifest' }, path: string): FoundTool {
  return {
    source: home.source, name, tier: 'manifest', kind: how, location: known.candidate.path, summary, tags,
    ...(version !== undefined && { version }),
    define(wanted) {
      const { facts, call, runner = runnerOf(path) } = readManifestBody(known.record.body) as ToolFile
      const python = runner === 'python' ? pythonOf(home.folder, dirname(path)) : ''
      const command = commandOf(path, runner, python, readHead(path), isExecutable(look(path)?.mode ?? 0))
      return define(home, known, wanted, { name, facts, call: { ...call, command } }, path)
    },
  }
}

function define(home: Home, known: Known, wanted: string, { facts, call }: WholeTool, program?: string): ReturnType<FoundTool['define']> {
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

/** Throws, and tells it, where the file of a tool, or the program that its manifest names, is not the one that was found. */
export async function checkFile({ folder, onStale }: Home, known: Known, program?: string): Promise<LookedAt> {
  try {
    return await requireUnchanged(folder, known, program)
  } catch (error) {
    onStale()
    throw error
  }
}

async function runnerFor({ env, given, services }: Home, { candidate }: Known, call: ChildCall): Promise<ForeignRun> {
  const { childRunner } = await import('../child/child-runner.ts')
  // What the host's environment says may be secret: it is taken at the call, and never remembered.
  const variables = { ...expandValues(call.env, env, candidate.key), ...given }
  return childRunner(Object.keys(variables).length === 0 ? call : { ...call, env: variables }, services)
}
