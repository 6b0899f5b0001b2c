import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Context } from '../../../contract/context.ts'
import type { JsonObject, JsonSchema } from '../../../contract/json.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { certificateVariables, confinedEnvironment } from '../../../process/base-environment.ts'
import type { ChildOptions } from '../../../process/child-type.ts'
import { prepareInput } from '../../../process/inputs/prepare-paths.ts'
import type { PathWork } from '../../../process/inputs/prepare-paths.ts'
import type { Grants } from '../../../process/permissions/grants.ts'
import { readGrants } from '../../../process/permissions/read-grants.ts'
import { checkPaths, checkPolicy } from '../../../process/policy/check-policy.ts'
import { loadPolicies } from '../../../process/policy/load-policies.ts'
import type { Policy } from '../../../process/policy/policy.ts'
import { codeFolders } from '../../../process/sandbox/code-folders.ts'
import type { ChildCall } from '../child-call.ts'
import { ownVariables } from '../environment.ts'
import { makeRunFolder } from '../protocol/run-folder.ts'

/** What a tool is held by: its manifest. */
export type HeldBy = {
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
export type HeldOptions = Pick<
  ChildOptions,
  'cwd' | 'env' | 'sandbox' | 'maxStdout' | 'maxLine' | 'grace'
>

/** One call of a tool that runs by its manifest: with a workspace of its own, and nothing but what it was granted. */
export type HeldCall = {
  /** Its paths mean what the tool sees. */
  readonly input: JsonObject
  readonly options: HeldOptions
  readonly outputs: PathWork['outputs']
  place: PathWork['place']
  remove(): Promise<void>
}

const KIBIBYTE = 1024

/** Prepares a call of a tool that its manifest holds. Throws what is wrong with the manifest, the policies or the paths, before anything is started. */
export async function holdCall(
  call: ChildCall,
  given: JsonObject,
  ctx: Context,
  held: HeldBy,
): Promise<HeldCall> {
  const run = await makeRunFolder(ctx)
  try {
    const policy = await loadPolicies(ctx.cwd, ctx.env)
    const grants = await grantsFor(held, run.workspace, ctx.cwd, policy)
    const { input, readable, outputs, sources, place } = await prepareInput(
      given,
      held.inputSchema ?? {},
      { cwd: ctx.cwd, workspace: run.workspace },
    )
    await checkPaths({ sources, outputs }, policy, held.tool)
    const certificates = grants.network === 'none' ? {} : certificateVariables(ctx.env)
    return {
      input,
      outputs,
      place,
      remove: run.remove,
      options: {
        cwd: run.workspace,
        // Only a tool of the run protocol is told of a run: others would take themselves for one.
        env: {
          ...confinedEnvironment(ctx.env, run.workspace),
          ...certificates,
          ...ownVariables(call, ctx),
          ...(call.form === 'protocol' ? run.env : { WORKSPACE: run.workspace }),
        },
        sandbox: {
          grants,
          workspace: run.workspace,
          readable: [
            ...codeFolders([held.program, ...call.command]),
            ...run.shown,
            ...readable,
            ...Object.values(certificates).filter(existsSync),
          ],
          hidden: listRunFolders(grants, ctx.cwd),
          searchPath: ctx.env['PATH'],
        },
        ...limitsOf(grants),
      },
    }
  } catch (error) {
    await run.remove()
    throw error
  }
}

async function grantsFor(
  { tool, permissions, file }: HeldBy,
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
function listRunFolders({ read, write }: Grants, cwd: string): readonly string[] {
  const folders = new Set([...read, ...write].filter(({ tree }) => tree).map(({ path }) => path))
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.add(folder)
    if (dirname(folder) === folder)
      return [...folders].map((each) => join(each, '.runs')).filter(existsSync)
  }
}

function limitsOf({
  limits: { outputMb, lineKb, graceMs },
}: Grants): Pick<ChildOptions, 'maxStdout' | 'maxLine' | 'grace'> {
  return {
    ...(outputMb !== undefined && { maxStdout: outputMb * KIBIBYTE * KIBIBYTE }),
    ...(lineKb !== undefined && { maxLine: lineKb * KIBIBYTE }),
    ...(graceMs !== undefined && { grace: graceMs }),
  }
}
