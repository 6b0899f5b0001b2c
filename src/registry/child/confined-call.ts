/**
 * Calls a tool under the permissions of its manifest: a workspace per call, grants checked against
 * the policies, outputs placed after a success.
 */

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isReply } from '../../core/result.ts'
import type { ChildOptions } from '../../process/child.ts'
import { buildSandboxEnv, pickCertificateVariables } from '../../process/environment.ts'
import type { Grants } from '../../process/grants.ts'
import type { PreparedPaths } from '../../process/inputs.ts'
import { prepareInput } from '../../process/inputs.ts'
import { loadPolicies } from '../../process/load-policies.ts'
import { readGrants } from '../../process/permissions.ts'
import { checkPaths, checkPolicy } from '../../process/policy-check.ts'
import type { Policy } from '../../process/policy.ts'
import { listCodeFolders } from '../../process/programs.ts'
import type { StagedOutput } from '../../process/staging.ts'
import { restoreOutputPaths } from '../../process/staging.ts'
import type { Context } from '../../protocol/context.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonObject, JsonSchema } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { CheckedFile } from '../cache.ts'
import { collectOwnVariables } from '../source.ts'
import type { ChildCall, ChildServices } from './child-call.ts'
import { makeRunFolder } from './protocol.ts'

/**
 * Calls a tool that its manifest holds, in whatever form it is called by. What it makes comes to
 * its place when it succeeds, and is told by that place.
 */
export async function runConfined(
  form: CallFormRunner,
  request: ChildRequest,
  held: Confinement,
): Promise<unknown> {
  const { call, input, ctx } = request
  const { outputs, place, remove, ...hold } = await prepareConfinedCall(call, input, ctx, held)
  try {
    const answer = await form({
      ...request,
      input: hold.input,
      ctx: withRestoredPaths(ctx, outputs),
      held: hold.options,
    })
    await place()
    return isReply(answer)
      ? { ...answer, result: restoreOutputPaths(answer.result, outputs) }
      : restoreOutputPaths(answer, outputs)
  } finally {
    await remove()
  }
}

function withRestoredPaths(ctx: Context, outputs: readonly StagedOutput[]): Context {
  const artifact: Context['artifact'] = (name, uri) =>
    ctx.artifact(restoreOutputPaths(name, outputs), restoreOutputPaths(uri, outputs))
  return Object.create(ctx, { artifact: { value: artifact } }) as Context
}

/** What a tool is held by: its manifest. */
export type Confinement = {
  /** `<source>.<tool>`, as policies name it. */
  readonly tool: string
  readonly permissions: unknown
  /** The file that the permissions stand in. */
  readonly file: string
  /** The tool itself. */
  readonly program: string
  readonly inputSchema?: JsonSchema | undefined
}

/** What stands around a child that is held. */
type ConfinedOptions = Pick<
  ChildOptions,
  'cwd' | 'env' | 'sandbox' | 'maxStdout' | 'maxLine' | 'grace'
>

/**
 * One call of a tool that runs by its manifest: with a workspace of its own, and nothing but what
 * it was granted.
 */
type ConfinedCall = {
  /** Its paths mean what the tool sees. */
  readonly input: JsonObject
  readonly options: ConfinedOptions
  readonly outputs: PreparedPaths['outputs']
  place: PreparedPaths['place']
  remove(): Promise<void>
}

const KIBIBYTE = 1024

/**
 * Prepares a call of a tool that its manifest holds. Throws what is wrong with the manifest, the
 * policies or the paths, before anything is started.
 */
async function prepareConfinedCall(
  call: ChildCall,
  given: JsonObject,
  ctx: Context,
  held: Confinement,
): Promise<ConfinedCall> {
  const run = await makeRunFolder(ctx)
  try {
    const policy = await loadPolicies(ctx.cwd, ctx.env)
    const grants = await readCallGrants(held, run.workspace, ctx.cwd, policy)
    const { input, readable, outputs, sources, place } = await prepareInput(
      given,
      held.inputSchema ?? {},
      { cwd: ctx.cwd, workspace: run.workspace },
    )
    await checkPaths({ sources, outputs }, policy, held.tool)
    const certificates = grants.network === 'none' ? {} : pickCertificateVariables(ctx.env)
    return {
      input,
      outputs,
      place,
      remove: run.remove,
      options: {
        cwd: run.workspace,
        // Only a tool of the run protocol is told of a run: others would take themselves for one.
        env: {
          ...buildSandboxEnv(ctx.env, run.workspace),
          ...certificates,
          ...collectOwnVariables(call, ctx),
          ...(call.form === 'protocol' ? run.env : { WORKSPACE: run.workspace }),
        },
        sandbox: {
          grants,
          workspace: run.workspace,
          readable: [
            ...listCodeFolders([held.program, ...call.command]),
            ...run.shown,
            ...readable,
            ...Object.values(certificates).filter(existsSync),
          ],
          hidden: listHiddenRunFolders(grants, ctx.cwd),
          searchPath: ctx.env['PATH'],
        },
        ...toChildLimits(grants),
      },
    }
  } catch (error) {
    await run.remove()
    throw error
  }
}

async function readCallGrants(
  { tool, permissions, file }: Confinement,
  workspace: string,
  cwd: string,
  policy: Policy,
): Promise<Grants> {
  const grants = await checkPolicy(
    await readGrants({ permissions, file }, { workspace, cwd }),
    policy,
    { tool, file },
  )
  if (grants.secrets.length > 0)
    throw new ToolError(
      'PERMISSION',
      `'${tool}' wants secrets (${grants.secrets.join(', ')}), and only a run gives any`,
      { suggestion: `toolable run --secret-file ${grants.secrets[0]}=<file> ${tool}` },
    )
  return grants
}

// Records of runs, which no tool may see or change, although they may lie in what it was granted.
function listHiddenRunFolders({ read, write }: Grants, cwd: string): readonly string[] {
  const folders = new Set([...read, ...write].filter(({ tree }) => tree).map(({ path }) => path))
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.add(folder)
    if (dirname(folder) === folder)
      return [...folders].map((each) => join(each, '.runs')).filter(existsSync)
  }
}

function toChildLimits({
  limits: { outputMb, lineKb, graceMs },
}: Grants): Pick<ChildOptions, 'maxStdout' | 'maxLine' | 'grace'> {
  return compact({
    maxStdout: outputMb !== undefined ? outputMb * KIBIBYTE * KIBIBYTE : undefined,
    maxLine: lineKb !== undefined ? lineKb * KIBIBYTE : undefined,
    grace: graceMs,
  })
}

/** One call of a tool in another process. */
export type ChildRequest = {
  readonly call: ChildCall
  readonly input: JsonObject
  readonly ctx: Context
  readonly services: ChildServices
  readonly looked: CheckedFile | undefined
  /**
   * What stands around the child of a tool that its manifest holds; absent: it has the rights of
   * its caller.
   */
  readonly held?: ConfinedOptions
}

/**
 * A way to call a tool in another process: gives its result, `ok(...)` or `partial(...)`, or throws
 * a ToolError.
 */
export type CallFormRunner = (request: ChildRequest) => Promise<unknown>

/**
 * What goes into a child: arguments behind the fixed ones, and what it reads on stdin. `streams`:
 * events come as lines on stdout before the answer.
 */
export type ChildFeed = {
  readonly args: readonly string[]
  readonly input?: string
  readonly streams?: true
}
