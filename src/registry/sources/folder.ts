/**
 * A folder of tools: manifests, scripts and executables, remembered in one cache file.
 */

import type { FSWatcher } from 'node:fs'
import { realpathSync, watch as watchFolder } from 'node:fs'
import { basename, resolve } from 'node:path'
import { getPackageVersion } from '../../core/cache.ts'
import { toToolError } from '../../core/errors.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { hasErrorCode } from '../../util/files.ts'
import { quoteForShell } from '../../util/text.ts'
import { compact, once } from '../../util/values.ts'
import type { CacheRecord, CacheSubject } from '../cache.ts'
import { readCache, statFile, writeCache } from '../cache.ts'
import { listCandidates } from '../folder/candidates.ts'
import type * as Definer from '../folder/define-tool.ts'
import type { CandidateOutline, CandidateProblem, FolderContext } from '../folder/outline.ts'
import { parseErrorCodesBody } from '../folder/outline.ts'
import type { FolderView, KnownCandidate } from '../folder/scan.ts'
import { scanFolder } from '../folder/scan.ts'
import type { ManifestServers, OpenServerSource } from '../folder/servers.ts'
import type { ErrorCodes } from '../manifests/yaml.ts'
import type {
  FoundTool,
  LoadContext,
  LoadedSource,
  Problem,
  SourceHost,
  ToolSource,
} from '../source.ts'
import { expandValues, joinLoaded, toBrokenSource } from '../source.ts'

/** A folder of tools: manifests, scripts, executables. */
export type FolderOptions = {
  readonly path: string
  /** The first half of its tools' ids; default: the folder's own name. */
  readonly name?: string
  /**
   * Variables for its tools besides the base allow-list; `${NAME}` means a variable of the host.
   */
  readonly env?: { readonly [name: string]: string }
  /** Read `--help` of programs that answer nothing else; default false. */
  readonly help?: boolean
  /** Load it again when something in it changes; default false. */
  readonly watch?: boolean
}

/** Opens a folder of tools. What it finds is cached by file, in one cache file for the folder. */
export function openSource(
  { path, name = toFolderName(path), env = {}, help = false, watch = false }: FolderOptions,
  { services }: Pick<SourceHost, 'services'>,
): ToolSource {
  const listeners: (() => void)[] = []
  const changed = (): void => listeners.forEach((listener) => listener())
  const servers = createLazyServers(openNamedServer, changed)
  let known:
    { readonly folder: string; readonly records: ReadonlyMap<string, CacheRecord> } | undefined
  const watching = watch ? createFolderWatcher(changed) : undefined
  let toolFolders: readonly string[] = []

  const recall = (
    folder: CacheSubject,
    { fresh, cacheFolder }: LoadContext,
  ): ReadonlyMap<string, CacheRecord> => {
    if (fresh) return new Map()
    if (known?.folder === folder.path) return known.records
    return cacheFolder === undefined ? new Map() : readCache(cacheFolder, folder)
  }
  const loadFrom = async (context: LoadContext): Promise<LoadedSource> => {
    const folder = realpathSync.native(resolve(context.cwd, path))
    const cached = {
      path: folder,
      id: statFile(folder)?.stamp.ino ?? 0,
      version: getPackageVersion(),
    }
    const follow = (): void => watching?.follow([folder, `${folder}/registry`, ...toolFolders])
    // Before the scan, so that changes during it are not missed.
    follow()
    const { candidates, refusals } = listCandidates(folder)
    toolFolders = [...new Set(candidates.flatMap(({ toolFolder }) => toolFolder ?? []))]
    if (toolFolders.length > 0) follow()
    const view = await scanFolder(folder, candidates, recall(cached, context), help, context)
    if (!context.signal.aborted) {
      known = { folder, records: view.records }
      if (view.changed && context.cacheFolder !== undefined)
        writeCache(context.cacheFolder, cached, view.records.values())
    }
    return collectFolder(
      {
        folder,
        source: name,
        services,
        env: context.env,
        variables: expandValues(env, context.env, `folder '${name}'`),
        variableTemplates: env ?? {},
        onStale: changed,
      },
      view,
      refusals,
      servers,
      context,
    )
  }
  return {
    name,
    kind: 'folder',
    location: path,
    async load(context) {
      try {
        return await loadFrom(context)
      } catch (error) {
        return toBrokenFolder(name, path, error)
      }
    },
    prepare: loadDefiner,
    onChange: (listener) => void listeners.push(listener),
    async close() {
      watching?.close()
      await servers.keep(new Set())
    },
  }
}

const openNamedServer: OpenServerSource = async (name, server) => {
  if ('command' in server) {
    const { command, args, env } = server
    return (await import('./mcp.ts')).openSource(compact({ command, args, env }), {}, name)
  }
  const { protocol, url, headers } = server
  return protocol === 'mcp'
    ? (await import('./mcp.ts')).openSource(compact({ url, headers }), {}, name)
    : (await import('./tool-server.ts')).openSource(compact({ url, headers, name }))
}

function toFolderName(path: string): string {
  const name = basename(path)
  return name === '' || name === '.' || name === '..' ? 'tools' : name
}

function toBrokenFolder(source: string, path: string, thrown: unknown): LoadedSource {
  if (hasErrorCode(thrown, 'ENOENT'))
    return toBrokenSource(
      source,
      path,
      'missing',
      `there is no folder ${path}`,
      `Check the path, or: mkdir -p ${quoteForShell(path)}`,
    )
  if (hasErrorCode(thrown, 'ENOTDIR'))
    return toBrokenSource(
      source,
      path,
      'not-a-folder',
      `${path} is not a folder`,
      'Name the folder; a program is named under programs, a module under modules',
    )
  const { message, suggestion } = toToolError(thrown)
  return toBrokenSource(
    source,
    path,
    'unreadable',
    `the folder ${path} cannot be read: ${message}`,
    suggestion?.fix ?? `ls -la ${quoteForShell(path)}`,
  )
}

/** Everything in a folder, from what is known of its files. */
async function collectFolder(
  home: Omit<FolderContext, 'codes'>,
  view: FolderView,
  refusals: ReturnType<typeof listCandidates>['refusals'],
  servers: ManifestServers,
  context: LoadContext,
): Promise<LoadedSource> {
  const { source } = home
  const tools: FoundTool[] = []
  const problems: Problem[] = []
  const report = (
    { candidate: { path } }: { readonly candidate: { readonly path: string } },
    { reason, message, fix }: CandidateProblem,
    severity: Problem['severity'] = 'error',
  ): void => void problems.push({ source, location: path, reason, message, fix, severity })
  for (const refusal of refusals) report({ candidate: refusal }, refusal)
  const inside: FolderContext = { ...home, codes: createErrorCodesReader(view) }
  const opened: Promise<LoadedSource>[] = []
  const documented: KnownCandidate[] = []

  for (const { known, path, trouble } of view.manifests) {
    const { outline } = known
    if (trouble) report(known, trouble)
    else if (outline.is === 'problem') report(known, outline)
    else if (outline.is === 'manifest' && path !== undefined)
      tools.push(toManifestTool(inside, known, outline, path))
    else if (outline.is === 'manifest') opened.push(servers.load(known, outline, source, context))
  }
  for (const known of view.programs) {
    const { outline } = known
    if (outline.is === 'problem') report(known, outline)
    if (outline.is !== 'tools') continue
    for (const tool of toProgramTools(inside, known, outline)) tools.push(tool)
    if (outline.more) documented.push(known)
    for (const warning of outline.warnings ?? []) report(known, warning, 'warning')
  }
  await servers.keep(new Set(view.manifests.map(({ known }) => known.record.body)))
  const documents =
    documented.length === 0
      ? undefined
      : (await import('../folder/documents.ts')).readProgramDocuments(inside, documented, report)
  return joinLoaded([{ tools, ...documents, problems }, ...(await Promise.all(opened))])
}

function createErrorCodesReader({ manifests }: FolderView): () => ErrorCodes {
  const record = manifests.find(({ known }) => known.outline.is === 'error-codes')?.known.record
  return once(() => (record === undefined ? {} : parseErrorCodesBody(record.body)))
}

/**
 * The tools of a program that was probed or has a manifest inside. A tool is parsed on first use.
 */
function toProgramTools(
  home: FolderContext,
  known: KnownCandidate,
  { how, tier, version, tools }: CandidateOutline & { readonly is: 'tools' },
): FoundTool[] {
  // Several tools of one program are grouped under its name.
  const source = tools.length > 1 ? known.candidate.name : home.source
  return tools.map((listed, index) =>
    toFolderTool(known, listed, version, {
      source,
      tier,
      kind: how,
      define: (name, id) => getDefiner().defineProgramTool(home, known, { name, id }, index),
      program: () => getDefiner().getProgram(home, known, index),
    }),
  )
}

/** The tool of a manifest, run by the program at `path`. */
function toManifestTool(
  home: FolderContext,
  known: KnownCandidate,
  { how, version, tools: [listed] }: CandidateOutline & { readonly is: 'manifest' },
  path: string,
): FoundTool {
  return toFolderTool(known, listed, version, {
    source: home.source,
    tier: 'manifest',
    kind: how,
    define: (name, id) => getDefiner().defineManifestTool(home, known, { name, id }, path),
    program: () => getDefiner().getManifestProgram(home, known, path),
  })
}

function toFolderTool(
  { candidate }: KnownCandidate,
  [name, summary, tags]: readonly [name: string, summary: string, tags: readonly string[]],
  version: string | undefined,
  rest: Pick<FoundTool, 'source' | 'tier' | 'kind' | 'define' | 'program'>,
): FoundTool {
  return compact({ ...rest, name, location: candidate.path, summary, tags, version })
}

let loadedModule: typeof Definer | undefined

/** Loads the code that creates definitions; a list does without it. */
async function loadDefiner(): Promise<void> {
  loadedModule ??= await import('../folder/define-tool.ts')
}

/** The code that creates definitions. Throws INTERNAL when it is not loaded. */
function getDefiner(): typeof Definer {
  if (loadedModule) return loadedModule
  throw new ToolError(
    'INTERNAL',
    'the definition of a tool was asked for before prepare() of its registry',
  )
}

/** The servers that manifests of a folder name. Their code is loaded with the first one. */
function createLazyServers(open: OpenServerSource, onChange: () => void): ManifestServers {
  let servers: Promise<ManifestServers> | undefined
  const load = async (): Promise<ManifestServers> =>
    (await import('../folder/servers.ts')).createManifestServers(open, onChange)
  return {
    load: async (...given) => (await (servers ??= load())).load(...given),
    keep: async (bodies) => (await servers)?.keep(bodies),
  }
}

const DEBOUNCE_MS = 200

/** A watcher that does not keep the process alive. */
type FolderWatcher = {
  /**
   * Watches these folders instead of the earlier ones. Changes that happened before are still
   * reported.
   */
  follow(folders: readonly string[]): void
  close(): void
}

/**
 * Reports changes in the folders, a moment after the first of several. A folder that keeps
 * changing is reported again and again.
 */
function createFolderWatcher(onChange: () => void): FolderWatcher {
  let watchers: readonly FSWatcher[] = []
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const tell = (): void => {
    timer = undefined
    onChange()
  }
  const soon = (): void => {
    if (!isClosed) timer ??= setTimeout(tell, DEBOUNCE_MS).unref()
  }
  const open = (folder: string): readonly FSWatcher[] => {
    try {
      // A folder that is removed is a change too.
      return [watchFolder(folder, { persistent: false }, soon).on('error', soon)]
    } catch {
      return []
    }
  }
  return {
    follow(folders) {
      const before = watchers
      // New watchers first, so that nothing between the two is missed; all of them new, because the
      // path may now be another folder.
      watchers = isClosed ? [] : folders.flatMap(open)
      for (const watcher of before) watcher.close()
    },
    close() {
      isClosed = true
      clearTimeout(timer)
      this.follow([])
    },
  }
}
