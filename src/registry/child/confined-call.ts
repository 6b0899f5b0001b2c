/**
 * Calls a tool under the permissions of its manifest: a workspace per call, grants checked against
 * the policies, outputs placed after a success.
 */

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isReply } from '../../core/result.ts'
import { buildSandboxEnv, pickCertificateVariables } from '../../process/environment.ts'
import type { Grants } from '../../process/grants.ts'
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
import { KIBIBYTE, MEBIBYTE } from '../../util/units.ts'
import type { JsonObject, JsonSchema } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import { collectOwnVariables } from '../source.ts'
import type { ChildCall, ConfinedOptions } from './child-call.ts'
import { makeRunFolder } from './protocol.ts'

/** The manifest that confines a tool. */
export type Confinement = {
  /** `<source>.<tool>`, as policies name it. */
  readonly tool: string
  readonly permissions: unknown
  /** The file with the permissions. */
  readonly file: string
  /** The tool itself. */
  readonly program: string
  readonly inputSchema?: JsonSchema | undefined
}

/**
 * Calls a tool within the permissions of its manifest; `run` runs it once, with an input whose paths
 * are those that the tool sees. Its outputs are moved to their places after
 * a success, and named by these places. Throws before the start where the manifest, the policies or
 * the paths are wrong.
 */
export async function runConfined(
  call: ChildCall,
  given: JsonObject,
  ctx: Context,
  confinement: Confinement,
  run: (input: JsonObject, ctx: Context, options: ConfinedOptions) => Promise<unknown>,
): Promise<unknown> {
  const folder = await makeRunFolder(ctx)
  const { workspace } = folder
  try {
    const policy = await loadPolicies(ctx.cwd, ctx.env)
    const grants = await readCallGrants(confinement, workspace, ctx.cwd, policy)
    const prepared = await prepareInput(given, confinement.inputSchema ?? {}, {
      cwd: ctx.cwd,
      workspace,
    })
    const { input, outputs, sources } = prepared
    await checkPaths({ sources, outputs }, policy, confinement.tool)
    const certificates = grants.network === 'none' ? {} : pickCertificateVariables(ctx.env)
    const answer = await run(input, withRestoredPaths(ctx, outputs), {
      cwd: workspace,
      env: {
        ...buildSandboxEnv(ctx.env, workspace),
        ...certificates,
        ...collectOwnVariables(call, ctx),
        // Only tools of the run protocol get the variables of a run: others might act on them.
        ...(call.form === 'protocol' ? folder.env : { WORKSPACE: workspace }),
      },
      sandbox: {
        grants,
        workspace,
        readable: [
          ...listCodeFolders([confinement.program, ...call.command]),
          ...folder.readable,
          ...prepared.readable,
          ...Object.values(certificates).filter(existsSync),
        ],
        hidden: listHiddenRunFolders(grants, ctx.cwd),
        searchPath: ctx.env['PATH'],
      },
      ...toChildLimits(grants),
    })
    await prepared.place()
    return isReply(answer)
      ? { ...answer, result: restoreOutputPaths(answer.result, outputs) }
      : restoreOutputPaths(answer, outputs)
  } finally {
    await folder.remove()
  }
}

function withRestoredPaths(ctx: Context, outputs: readonly StagedOutput[]): Context {
  const artifact: Context['artifact'] = (name, uri) =>
    ctx.artifact(restoreOutputPaths(name, outputs), restoreOutputPaths(uri, outputs))
  return Object.create(ctx, { artifact: { value: artifact } }) as Context
}

async function readCallGrants(
  { tool, permissions, file }: Confinement,
  workspace: string,
  cwd: string,
  policy: Policy,
): Promise<Grants> {
  const asked = await readGrants({ permissions, file }, { workspace, cwd })
  const grants = await checkPolicy(asked, policy, { tool, file })
  if (grants.secrets.length > 0)
    throw new ToolError(
      'PERMISSION',
      `'${tool}' wants secrets (${grants.secrets.join(', ')}), and only a run gives any`,
      { suggestion: `toolable run --secret-file ${grants.secrets[0]}=<file> ${tool}` },
    )
  return grants
}

// Records of runs, which no tool may see or change, although they may be inside granted folders.
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
}: Grants): Partial<ConfinedOptions> {
  return compact({
    maxStdout: outputMb === undefined ? undefined : outputMb * MEBIBYTE,
    maxLine: lineKb === undefined ? undefined : lineKb * KIBIBYTE,
    grace: graceMs,
  })
}
