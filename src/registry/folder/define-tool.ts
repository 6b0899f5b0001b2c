/**
 * Makes definitions of a folder's tools. Loaded by the first call or description; a list does without it.
 */

import { dirname } from 'node:path'
import type { ToolDefinition } from '../../define/tool-types.ts'
import type { DeclaredError } from '../../protocol/errors.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact } from '../../util/values.ts'
import type { ChildCall } from '../child/child-call.ts'
import type { Confinement } from '../child/confined-call.ts'
import type { ForeignRun } from '../foreign/define-foreign.ts'
import { defineForeign } from '../foreign/define-foreign.ts'
import type { ToolFile } from '../manifests/metadata.ts'
import type { ProgramTool } from '../probe/ask.ts'
import type { FoundProgram } from '../source.ts'
import { expandValues } from '../source.ts'
import { buildStartCommand, findPython, getRunner } from './candidates.ts'
import { checkToolFile } from './freshness.ts'
import type { FolderContext, ProgramBody } from './outline.ts'
import { parseManifestBody, parseProgramBody } from './outline.ts'
import type { KnownCandidate } from './scan.ts'

/** The name that a tool is served under, and the id that policies use for it. */
export type ToolIdentity = { readonly name: string; readonly id: string }

/** The definition of a program's tool, by its index among the tools of the program. */
export function defineProgramTool(
  home: FolderContext,
  known: KnownCandidate,
  identity: ToolIdentity,
  index: number,
): ToolDefinition {
  return defineFolderTool(home, known, identity, readProgramTool(known, index))
}

/** The same tool, for a supervisor that starts its program itself. */
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
  identity: ToolIdentity,
  path: string,
): ToolDefinition {
  return defineFolderTool(home, known, identity, readManifestTool(home, known, path), path)
}

/** The same tool, for a supervisor that starts its program itself. */
export async function getManifestProgram(
  home: FolderContext,
  known: KnownCandidate,
  path: string,
): Promise<FoundProgram> {
  const { selftest, orchestrator, ...tool } = readManifestTool(home, known, path)
  const program = await toFoundProgram(home, known, tool, path)
  return { ...program, ...compact({ orchestrator, selftest }) }
}

// Several tools of one program are parsed once.
const bodyCache = new WeakMap<KnownCandidate, ProgramBody>()

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
  const file = parseManifestBody(known.record.body) as ToolFile
  const { name, facts, orchestrator, selftest, runner = getRunner(path) } = file
  const python = runner === 'python' ? findPython(home.folder, dirname(path)) : ''
  const call = { ...file.call, command: buildStartCommand(path, python, runner) }
  return compact({ name, facts, call, orchestrator, selftest })
}

async function toFoundProgram(
  home: FolderContext,
  known: KnownCandidate,
  { facts, call }: ProgramTool,
  program?: string,
): Promise<FoundProgram> {
  await checkToolFile(home, known, program)
  // Throws where a variable is missing.
  expandCallVariables(home, known, call)
  const found = { call: withVariables(call, { ...call.env, ...home.variableTemplates }) }
  const { permissions } = facts
  return permissions ? { ...found, permissions, manifest: known.candidate.path } : found
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
  const { permissions, inputSchema } = facts
  const confinement = permissions && { tool: id, permissions, file, program, inputSchema }
  const run = createToolRun(home, known, call, program, confinement)
  if (Object.keys(codes).length === 0) return defineForeign(name, facts, run)
  const errors = { ...codes, ...facts.errors }
  return defineForeign(name, { ...facts, errors }, async (input, ctx) => {
    try {
      return await run(input, ctx)
    } catch (error) {
      throw completeDeclaredError(error, codes)
    }
  })
}

function createToolRun(
  home: FolderContext,
  known: KnownCandidate,
  call: ChildCall,
  program: string,
  confinement: Confinement | undefined,
): ForeignRun {
  let run: ForeignRun | undefined
  return async (input, ctx) => {
    const checked = await checkToolFile(home, known, program)
    if (run) return run(input, ctx, checked)
    const { createChildRunner } = await import('../child/runner.ts')
    run = createChildRunner(expandCallVariables(home, known, call), home.services, confinement)
    return run(input, ctx)
  }
}

// Variables of the host may be secret, so they are expanded at the call and never remembered.
function expandCallVariables(
  { env, variables }: FolderContext,
  { candidate }: KnownCandidate,
  call: ChildCall,
): ChildCall {
  return withVariables(call, { ...expandValues(call.env, env, candidate.key), ...variables })
}

function withVariables(call: ChildCall, env: NonNullable<ChildCall['env']>): ChildCall {
  return Object.keys(env).length === 0 ? call : { ...call, env }
}

// Completes an error by what is declared about its code. It is recoverable or retryable where one of
// the two says so.
function completeDeclaredError(
  error: unknown,
  declared: { readonly [code: string]: DeclaredError },
): unknown {
  if (!ToolError.is(error) || !Object.hasOwn(declared, error.code)) return error
  const { category, recoverable = false, retryable = false } = declared[error.code]!
  const { code, message, suggestion, details, field, cause } = error
  const options = {
    category: category ?? error.category,
    recoverable: error.recoverable || recoverable,
    retryable: error.retryable || retryable,
    ...compact({ suggestion, details, field, cause }),
  }
  return new ToolError(code, message, options)
}
