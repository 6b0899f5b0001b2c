/**
 * What describes a coding agent, and the machine it runs on.
 */

import { accessSync, constants, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { host } from '../../core/host.ts'

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
  getFile(scope: InstallScope, environment: AgentEnvironment): string
  readonly format: 'jsonc' | 'toml'
  /** The key that holds the servers by name. */
  readonly container: string
  /** The `type` of an entry by transport; default: entries have none. */
  readonly types?: { readonly [Transport in ServerTarget['transport']]?: string }
  /** The field of an entry that holds HTTP headers; default `headers`. */
  readonly headersField?: string
}

/** What the file of an agent says about it. */
export type AgentDefinition = {
  /** What shows that the agent is used here: paths that exist, and programs on the PATH. */
  getTraces(environment: AgentEnvironment): {
    readonly paths: readonly string[]
    readonly programs: readonly string[]
  }
  /** Absent for agents that take skills only. */
  readonly servers?: AgentServerConfig
  /** The folder that holds a folder for each skill. */
  getSkillsFolder(scope: InstallScope, environment: AgentEnvironment): string
}

/** An agent that can be given servers, skills, or both, under its name in the table. */
export type CodingAgent = AgentDefinition & { readonly name: string }

/** An agent that has MCP servers. */
export type ServerAgent = CodingAgent & { readonly servers: AgentServerConfig }

/** The folder of skills that many agents read: `.agents/skills`, in the project or at home. */
export function getSharedSkillsFolder(
  scope: InstallScope,
  { cwd, home }: AgentEnvironment,
): string {
  return join(scope === 'project' ? cwd : home, '.agents', 'skills')
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
