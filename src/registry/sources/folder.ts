import { realpathSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { quoteForShell } from '../../contract/quote-for-shell.ts'
import { toToolError } from '../../call/failure.ts'
import { readCache, writeCache } from '../cache/cache-file.ts'
import type { CacheRecord } from '../cache/line.ts'
import { ownVersion } from '../../call/own-version.ts'
import { look } from '../cache/stamp.ts'
import type { ChildServices } from '../child/services.ts'
import { expandValues } from '../expand-variables.ts'
import { collect } from '../folder/collect.ts'
import { lookThrough } from '../folder/look-through.ts'
import { scanFolder } from '../folder/scan.ts'
import { loadDefiner } from '../folder/late-definer.ts'
import { lateServers } from '../folder/late-servers.ts'
import type { OpenServer } from '../folder/servers-of.ts'
import { createWatch } from '../folder/watch.ts'
import type { Loaded, Problem } from '../found.ts'
import type { FolderOptions } from '../registry-type.ts'
import type { LoadContext, Source } from '../source.ts'

/** A folder of tools: manifests, scripts, executables. What it found is remembered by file, in one cache file for the folder. */
export function folderSource(
  { path, name = nameOf(path), env = {}, help = false, watch = false }: FolderOptions,
  services: ChildServices,
): Source {
  const listeners: (() => void)[] = []
  const changed = (): void => listeners.forEach((listener) => listener())
  const servers = lateServers(openServer, changed)
  let known:
    { readonly folder: string; readonly records: ReadonlyMap<string, CacheRecord> } | undefined
  const watching = watch ? createWatch(changed) : undefined
  let toolFolders: readonly string[] = []

  const loadFrom = async (context: LoadContext): Promise<Loaded> => {
    const folder = realpathSync.native(resolve(context.cwd, path))
    const cached = { path: folder, id: look(folder)?.stamp.ino ?? 0, version: ownVersion() }
    const follow = (): void => watching?.follow([folder, `${folder}/registry`, ...toolFolders])
    // Before anything is looked at: what changes while it is looked at must not be missed.
    follow()
    const { candidates, refusals } = scanFolder(folder)
    toolFolders = [...new Set(candidates.flatMap(({ toolFolder }) => toolFolder ?? []))]
    if (toolFolders.length > 0) follow()
    const remembered =
      known?.folder === folder
        ? known.records
        : context.cacheFolder === undefined
          ? new Map<string, CacheRecord>()
          : readCache(context.cacheFolder, cached)
    const view = await lookThrough(
      folder,
      candidates,
      context.fresh ? new Map() : remembered,
      help,
      context,
    )
    if (!context.signal.aborted) {
      known = { folder, records: view.records }
      if (view.changed && context.cacheFolder !== undefined)
        writeCache(context.cacheFolder, cached, view.records.values())
    }
    return collect(
      {
        folder,
        source: name,
        services,
        env: context.env,
        given: expandValues(env, context.env, `folder '${name}'`),
        written: env ?? {},
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
        return { tools: [], problems: [unreadable(name, path, error)] }
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

const openServer: OpenServer = async (name, server) => {
  if ('command' in server)
    return (await import('./mcp.ts')).mcpSource(name, {
      command: server.command,
      args: server.args,
      ...(server.env && { env: server.env }),
    })
  const { url, headers } = server
  const at = { url, ...(headers && { headers }) }
  return server.protocol === 'mcp'
    ? (await import('./mcp.ts')).mcpSource(name, at)
    : (await import('./tool-server.ts')).toolServerSource({ ...at, name })
}

function nameOf(path: string): string {
  const name = basename(path)
  return name === '' || name === '.' || name === '..' ? 'tools' : name
}

function unreadable(source: string, location: string, thrown: unknown): Problem {
  const { code } = thrown as NodeJS.ErrnoException
  if (code === 'ENOENT')
    return {
      source,
      location,
      reason: 'missing',
      message: `there is no folder ${location}`,
      fix: `Check the path, or: mkdir -p ${quoteForShell(location)}`,
      severity: 'error',
    }
  if (code === 'ENOTDIR')
    return {
      source,
      location,
      reason: 'not-a-folder',
      message: `${location} is not a folder`,
      fix: 'Name the folder; a program is named under programs, a module under modules',
      severity: 'error',
    }
  const { message, suggestion } = toToolError(thrown)
  return {
    source,
    location,
    reason: 'unreadable',
    message: `the folder ${location} cannot be read: ${message}`,
    fix: suggestion?.fix ?? `ls -la ${quoteForShell(location)}`,
    severity: 'error',
  }
}
