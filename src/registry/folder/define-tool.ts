/**
 * Makes definitions of a folder's tools. Loaded by the first call or description; a list does without it.
 */

import { dirname } from 'node:path'
import type { ToolDefinition } from '../../define/tool-types.ts'
import type { DeclaredError } from '../../protocol/errors.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact } from '../../util/values.ts'
import { statFile } from '../cache.ts'
import type { ChildCall } from '../child/child-call.ts'
import type { Confinement } from '../child/confined-call.ts'
import { defineForeign } from '../foreign/define-foreign.ts'
import type { ForeignRun } from '../foreign/define-foreign.ts'
import type { ToolFile } from '../manifests/metadata.ts'
import { expandValues } from '../source.ts'
import type { FoundProgram } from '../source.ts'
import {
  buildStartCommand,
  findPython,
  getRunner,
  isExecutableMode,
  readFileHead,
} from './candidates.ts'
import { checkToolFile } from './freshness.ts'
import { parseManifestBody, parseProgramBody } from './outline.ts'
import type { FolderContext, ProgramBody, ProgramTool } from './outline.ts'
import type { KnownCandidate } from './scan.ts'

// Several tools of one program are read once.
const bodyCache = new WeakMap<KnownCandidate, ProgramBody>()

/** The name that a tool is served under, and the id that policies know it by. */
export type ToolIdentity = { readonly name: string; readonly id: string }

/** The definition of a program's tool, by its place among the tools of the program. */
export function defineProgramTool(
  home: FolderContext,
  known: KnownCandidate,
  wanted: ToolIdentity,
  index: number,
): ToolDefinition {
  return defineFolderTool(home, known, wanted, readProgramTool(known, index))
}

/** The same tool, for whoever supervises its program himself. */
export function getProgram(
  home: FolderContext,
  known: KnownCandidate,
  index: number,
): Promise<FoundProgram> {
  return toFoundProgram(home, known, readProgramTool(known, index))
}

/** The definition of the tool that a manifest describes, run by the program at `path`. */
export function defineManifestTool(
  home: FolderContext,
  known: KnownCandidate,
  wanted: ToolIdentity,
  path: string,
): ToolDefinition {
  return defineFolderTool(home, known, wanted, readManifestTool(home, known, path), path)
}

/** The same tool, for whoever supervises its program himself. */
export async function getManifestProgram(
  home: FolderContext,
  known: KnownCandidate,
  path: string,
): Promise<FoundProgram> {
  const { selftest, orchestrator, ...tool } = readManifestTool(home, known, path)
  return {
    ...(await toFoundProgram(home, known, tool, path)),
    ...compact({ orchestrator, selftest }),
  }
}

function readProgramTool(known: KnownCandidate, index: number): ProgramTool {
  const body = bodyCache.get(known) ?? parseProgramBody(known.record.body)
  bodyCache.set(known, body)
  return body.tools[index]!
}

function readManifestTool(
  home: FolderContext,
  known: KnownCandidate,
  path: string,
): ProgramTool & Pick<ToolFile, 'selftest' | 'orchestrator'> {
  const {
    name,
    selftest,
    orchestrator,
    facts,
    call,
    runner = getRunner(path),
  } = parseManifestBody(known.record.body) as ToolFile
  const python = runner === 'python' ? findPython(home.folder, dirname(path)) : ''
  const command = buildStartCommand(
    path,
    runner,
    python,
    readFileHead(path),
    isExecutableMode(statFile(path)?.mode ?? 0),
  )
  return compact({ name, facts, call: { ...call, command }, orchestrator, selftest })
}

async function toFoundProgram(
  home: FolderContext,
  known: KnownCandidate,
  { facts, call }: ProgramTool,
  program?: string,
): Promise<FoundProgram> {
  await checkToolFile(home, known, program)
  // For its refusals alone.
  expandCallVariables(home, known, call)
  const variables = { ...call.env, ...home.variableTemplates }
  return {
    call: Object.keys(variables).length === 0 ? call : { ...call, env: variables },
    ...(facts.permissions && { permissions: facts.permissions, manifest: known.candidate.path }),
  }
}

function defineFolderTool(
  home: FolderContext,
  known: KnownCandidate,
  { name, id }: ToolIdentity,
  { facts, call }: ProgramTool,
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
  const run = createToolRun(home, known, call, program === file ? undefined : program, held)
  if (Object.keys(codes).length === 0) return defineForeign(name, facts, run)
  return defineForeign(
    name,
    { ...facts, errors: { ...codes, ...facts.errors } },
    async (input, ctx) => {
      try {
        return await run(input, ctx)
      } catch (error) {
        throw completeDeclaredError(error, codes)
      }
    },
  )
}

function createToolRun(
  home: FolderContext,
  known: KnownCandidate,
  call: ChildCall,
  program: string | undefined,
  held: Confinement | undefined,
): ForeignRun {
  let run: ForeignRun | undefined
  return async (input, ctx) => {
    const looked = await checkToolFile(home, known, program)
    if (run) return run(input, ctx, looked)
    run = await loadRunner(home, known, call, held)
    return run(input, ctx)
  }
}

async function loadRunner(
  home: FolderContext,
  known: KnownCandidate,
  call: ChildCall,
  held: Confinement | undefined,
): Promise<ForeignRun> {
  const { createChildRunner } = await import('../child/runner.ts')
  return createChildRunner(expandCallVariables(home, known, call), home.services, held)
}

// What the host's environment says may be secret: it is taken at the call, and never remembered.
function expandCallVariables(
  { env, variables: given }: FolderContext,
  { candidate }: KnownCandidate,
  call: ChildCall,
): ChildCall {
  const variables = { ...expandValues(call.env, env, candidate.key), ...given }
  return Object.keys(variables).length === 0 ? call : { ...call, env: variables }
}

/**
 * A failure of a tool, completed by what is declared about its code: whoever says that something
 * helps is believed.
 */
function completeDeclaredError(
  error: unknown,
  declared: { readonly [code: string]: DeclaredError },
): unknown {
  if (!ToolError.is(error) || !Object.hasOwn(declared, error.code)) return error
  const { category, recoverable = false, retryable = false } = declared[error.code]!
  const { code, message, suggestion, details, field, cause } = error
  return new ToolError(
    code,
    message,
    compact({
      category: category ?? error.category,
      recoverable: error.recoverable || recoverable,
      retryable: error.retryable || retryable,
      suggestion,
      details,
      field,
      cause,
    }),
  )
}
