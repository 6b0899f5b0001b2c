import { dirname } from 'node:path'
import type { ToolDefinition } from '../../define/tool-type.ts'
import { look } from '../cache/stamp.ts'
import type { ChildCall } from '../child/child-call.ts'
import type { HeldBy } from '../child/held/held-call.ts'
import { expandValues } from '../expand-variables.ts'
import { defineForeign } from '../foreign/define-foreign.ts'
import type { ForeignRun } from '../foreign/define-foreign.ts'
import type { FoundProgram } from '../found.ts'
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

/** The name that a tool is served under, and the id that policies know it by. */
export type Wanted = { readonly name: string; readonly id: string }

/** The definition of a program's tool, by its place among the tools of the program. */
export function defineOfProgram(
  home: Home,
  known: Known,
  wanted: Wanted,
  index: number,
): ToolDefinition {
  return define(home, known, wanted, toolOfProgram(known, index))
}

/** The same tool, for whoever supervises its program himself. */
export function programOf(home: Home, known: Known, index: number): Promise<FoundProgram> {
  return supervised(home, known, toolOfProgram(known, index))
}

/** The definition of the tool that a manifest describes, run by the program at `path`. */
export function defineOfManifest(
  home: Home,
  known: Known,
  wanted: Wanted,
  path: string,
): ToolDefinition {
  return define(home, known, wanted, toolOfManifest(home, known, path), path)
}

/** The same tool, for whoever supervises its program himself. */
export async function programOfManifest(
  home: Home,
  known: Known,
  path: string,
): Promise<FoundProgram> {
  const { selftest, orchestrator, ...tool } = toolOfManifest(home, known, path)
  return {
    ...(await supervised(home, known, tool, path)),
    ...(orchestrator && { orchestrator }),
    ...(selftest && { selftest }),
  }
}

function toolOfProgram(known: Known, index: number): WholeTool {
  const body = bodies.get(known) ?? readProgramBody(known.record.body)
  bodies.set(known, body)
  return body.tools[index]!
}

function toolOfManifest(
  home: Home,
  known: Known,
  path: string,
): WholeTool & Pick<ToolFile, 'selftest' | 'orchestrator'> {
  const {
    name,
    selftest,
    orchestrator,
    facts,
    call,
    runner = runnerOf(path),
  } = readManifestBody(known.record.body) as ToolFile
  const python = runner === 'python' ? pythonOf(home.folder, dirname(path)) : ''
  const command = commandOf(
    path,
    runner,
    python,
    readHead(path),
    isExecutable(look(path)?.mode ?? 0),
  )
  return {
    name,
    facts,
    call: { ...call, command },
    ...(orchestrator && { orchestrator }),
    ...(selftest && { selftest }),
  }
}

async function supervised(
  home: Home,
  known: Known,
  { facts, call }: WholeTool,
  program?: string,
): Promise<FoundProgram> {
  await checkFile(home, known, program)
  // For its refusals alone.
  withVariables(home, known, call)
  const variables = { ...call.env, ...home.written }
  return {
    call: Object.keys(variables).length === 0 ? call : { ...call, env: variables },
    ...(facts.permissions && { permissions: facts.permissions, manifest: known.candidate.path }),
  }
}

function define(
  home: Home,
  known: Known,
  { name, id }: Wanted,
  { facts, call }: WholeTool,
  program = known.candidate.path,
): ToolDefinition {
  const codes = home.codes()
  const { path: file } = known.candidate
  const held = facts.permissions && {
    tool: id,
    permissions: facts.permissions,
    file,
    program,
    inputSchema: facts.inputSchema,
  }
  const run = runIn(home, known, call, program === file ? undefined : program, held)
  if (Object.keys(codes).length === 0) return defineForeign(name, facts, run)
  return defineForeign(
    name,
    { ...facts, errors: { ...codes, ...facts.errors } },
    async (input, ctx) => {
      try {
        return await run(input, ctx)
      } catch (error) {
        throw withCodes(error, codes)
      }
    },
  )
}

function runIn(
  home: Home,
  known: Known,
  call: ChildCall,
  program: string | undefined,
  held: HeldBy | undefined,
): ForeignRun {
  let run: ForeignRun | undefined
  return async (input, ctx) => {
    const looked = await checkFile(home, known, program)
    if (run) return run(input, ctx, looked)
    run = await runnerFor(home, known, call, held)
    return run(input, ctx)
  }
}

async function runnerFor(
  home: Home,
  known: Known,
  call: ChildCall,
  held: HeldBy | undefined,
): Promise<ForeignRun> {
  const { childRunner } = await import('../child/child-runner.ts')
  return childRunner(withVariables(home, known, call), home.services, held)
}

// What the host's environment says may be secret: it is taken at the call, and never remembered.
function withVariables({ env, given }: Home, { candidate }: Known, call: ChildCall): ChildCall {
  const variables = { ...expandValues(call.env, env, candidate.key), ...given }
  return Object.keys(variables).length === 0 ? call : { ...call, env: variables }
}
