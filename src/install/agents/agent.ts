/**
 * What describes a coding agent, and the machine it runs on.
 */

import { accessSync, constants, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { host } from '../../core/host.ts'
import type { ConfigObject } from '../formats/format.ts'

/** Whether something is for this project or for everything that this user does. */
export type InstallScope = 'project' | 'user'

/** The machine as far as agents are concerned. */
export type AgentEnvironment = {
  readonly env: { readonly [name: string]: string | undefined }
  /** The project. */
  readonly cwd: string
  readonly home: string
  readonly platform: string
}

/** How a server is reached, whatever the agent. */
export type ServerTarget =
  | {
      readonly transport: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env: { readonly [name: string]: string }
    }
  | {
      readonly transport: 'http'
      readonly url: string
      readonly headers: { readonly [name: string]: string }
    }

/** Where an agent keeps its MCP servers, and in which form. */
export type AgentServerConfig = {
  getFile(scope: InstallScope, surroundings: AgentEnvironment): string
  readonly format: 'jsonc' | 'toml'
  /** The key under which servers stand by name. */
  readonly container: string
  toEntry(server: ServerTarget): ConfigObject
  /** The fields of an entry that hold environment variables and HTTP headers. */
  readonly fields: { readonly env: string; readonly headers: string }
}

/** An agent that can be given servers, skills, or both. */
export type CodingAgent = {
  readonly name: string
  /** What shows that the agent is used here: paths that exist, and programs on the PATH. */
  getTraces(surroundings: AgentEnvironment): {
    readonly paths: readonly string[]
    readonly programs: readonly string[]
  }
  readonly servers?: AgentServerConfig
  /** The folder that holds a folder for each skill. */
  getSkillsFolder(scope: InstallScope, surroundings: AgentEnvironment): string
}

/**
 * The path of a program that the shell would find by its name; undefined when there is none.
 * `within` leaves out folders of the PATH.
 */
export function findProgram(
  name: string,
  { env, platform }: Pick<AgentEnvironment, 'env' | 'platform'>,
  within: (folder: string) => boolean = () => true,
): string | undefined {
  const endings =
    platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';')] : ['']
  const folders = (env['PATH'] ?? env['Path'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '' && within(folder))
  return folders
    .flatMap((folder) => endings.map((ending) => join(folder, name + ending)))
    .find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** The machine as the caller sees it: its environment and its folder, not those of the process. */
export function getAgentEnvironment({
  env,
  cwd,
}: {
  readonly env: AgentEnvironment['env']
  readonly cwd: string
}): AgentEnvironment {
  return { env, cwd, home: env['HOME'] || env['USERPROFILE'] || homedir(), platform: host.platform }
}
