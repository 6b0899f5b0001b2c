import type { Readable } from 'node:stream'
import { ToolError } from '../../../contract/tool-error.ts'
import type { ChildEnd, ChildOptions } from '../../child-type.ts'
import { findProgram } from '../../find-program.ts'
import type { Hold, Prepared } from '../../hold.ts'
import { openLifeline } from '../../lifeline.ts'
import { watchLimits } from '../../limits/watch.ts'
import { listInterpreters, listPartsOf } from '../installations.ts'
import { contains, realPath } from '../paths.ts'
import type { ToolProfile } from '../profile.ts'
import { collectDescriptors } from './descriptors.ts'
import { groupsFor, openGroup } from './enter-group.ts'
import { explainTool } from './explain.ts'
import type { Identity } from './identity.ts'
import { canReach, findIdentity } from './identity.ts'
import { HOME } from './made-files.ts'
import { checkUse, handOver, makePlaces } from './make-places.ts'
import type { Status } from './namespace.ts'
import { leadNamespace, readStatus } from './namespace.ts'
import { openNetwork } from './network.ts'
import type { Place } from './places.ts'
import { listPlaces } from './places.ts'
import { findPrograms } from './programs.ts'
import { IN_MEMORY, wrapCommand } from './wrap-command.ts'

/** The sandbox of a tool that runs by its manifest, or why it cannot have one. */
export async function prepare(options: ChildOptions): Promise<Prepared | ToolError> {
  const profile = options.sandbox as ToolProfile
  const limits = { ...profile.grants.limits, ...options.limits }
  const who = findIdentity()
  if (who instanceof ToolError) return who
  const programs = findPrograms(profile.searchPath, who, [
    profile.workspace,
    ...profile.grants.write.map(({ path }) => path),
  ])
  if (programs instanceof ToolError) return programs
  const network = await openNetwork(profile, programs, who)
  if (network instanceof ToolError) return network
  const descriptors = collectDescriptors()
  let removeMade = (): void => {}
  try {
    removeMade = makePlaces(profile, who)
    handOver(profile.workspace, who)
    const { places, byRoot } = choosePlaces(profile, options, who)
    checkUse(places, who)
    checkFiles(profile, places)
    const cwd =
      (places.findLast(({ path }) => contains(path, options.cwd))?.isHidden ?? true) === false
        ? options.cwd
        : profile.workspace
    const groups = await groupsFor(limits)
    const wrapped = wrapCommand(
      {
        programs,
        who,
        byRoot,
        places,
        files: profile.files,
        network,
        limits,
        cwd,
        env: environmentInside(options.env, places),
        waits: groups !== undefined,
      },
      options.command,
      descriptors,
    )
    const lifeline = await openLifeline()
    const group = groups && openGroup(groups, limits)
    let status: Status | undefined
    const take: Hold['take'] = (child, pid) => {
      status = readStatus(child.stdio[wrapped.status] as Readable)
      void status.known.then(network.entered)
      const reins = lifeline.guard(
        pid,
        leadNamespace(child, pid, status, byRoot ? 2 : 1),
        undefined,
      )
      if (wrapped.gate !== undefined) group?.admit(child, wrapped.gate, status, reins.kill)
      return reins
    }
    return {
      hold: {
        command: wrapped.command,
        cwd: '/',
        env: {},
        descriptors: descriptors.all,
        take,
        ...(who.isDropped && !byRoot && { user: { uid: who.uid, gid: who.gid } }),
      },
      watch: (root, onReached, input) =>
        watchLimits(
          group?.watched ?? limits,
          { workspace: profile.workspace, inMemory: [IN_MEMORY], input, countProcesses: false },
          root,
          onReached,
        ),
      explain: async (end): Promise<ChildEnd> => {
        await network.release(end.reason === 'exited')
        removeMade()
        return explainTool(
          group ? await group.release(end) : end,
          options,
          (await status?.hasEnded()) ?? false,
        )
      },
    }
  } catch (error) {
    descriptors.giveUp()
    await network.release(false)
    removeMade()
    return ToolError.is(error)
      ? error
      : new ToolError(
          'SANDBOX_UNAVAILABLE',
          `${JSON.stringify(options.command[0])} got no sandbox: ${(error as Error).message}`,
          { cause: error },
        )
  }
}

function choosePlaces(
  profile: ToolProfile,
  { command: [program], env, cwd }: ChildOptions,
  who: Identity,
): { readonly places: Place[]; readonly byRoot: boolean } {
  const file = findProgram(program, env['PATH'], cwd)
  const needed = file === undefined ? [] : listPartsOf(file)
  const byRoot =
    who.isDropped && listPlaces(profile, needed).some(({ source }) => !canReach(source, who))
  const useful = listInterpreters(env['PATH']).filter(
    (path) => byRoot || canReach(realPath(path) ?? path, who),
  )
  return { byRoot, places: listPlaces(profile, [...needed, ...useful]) }
}

function checkFiles({ files = [] }: ToolProfile, places: readonly Place[]): void {
  const bad = files.find(({ path }) => places.some((place) => contains(place.path, path)))
  if (bad)
    throw new ToolError(
      'CONFIG',
      `${bad.path} cannot be a file of the sandbox alone, because it lies in a folder of this machine`,
    )
}

/** The variables as they are given, but a home and a temporary folder that are not there become those of the sandbox. */
function environmentInside(
  env: ChildOptions['env'],
  places: readonly Place[],
): ChildOptions['env'] {
  const isSeen = (path: string): boolean => places.some((place) => contains(place.path, path))
  const moved = (
    [
      ['HOME', HOME],
      ['TMPDIR', '/tmp'],
    ] as const
  ).filter(([name]) => env[name] !== undefined && !isSeen(env[name]))
  return { ...env, ...Object.fromEntries(moved) }
}
