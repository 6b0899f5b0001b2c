import type { Config } from '../formats/format.ts'

/** Whether something is for this project or for everything that this user does. */
export type Scope = 'project' | 'user'

/** The machine as far as agents are concerned. */
export type Surroundings = {
  readonly env: { readonly [name: string]: string | undefined }
  /** The project. */
  readonly cwd: string
  readonly home: string
  readonly platform: string
}

/** How a server is reached, whatever the agent. */
export type Server =
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
export type ServerPlace = {
  file(scope: Scope, surroundings: Surroundings): string
  readonly format: 'jsonc' | 'toml'
  /** The key under which servers stand by name. */
  readonly container: string
  entry(server: Server): Config
  /** The fields of an entry that hold environment variables and HTTP headers. */
  readonly fields: { readonly env: string; readonly headers: string }
}

/** An agent that can be given servers, skills, or both. */
export type Agent = {
  readonly name: string
  /** What shows that the agent is used here: paths that exist, and programs on the PATH. */
  traces(surroundings: Surroundings): {
    readonly paths: readonly string[]
    readonly programs: readonly string[]
  }
  readonly servers?: ServerPlace
  /** The folder that holds a folder for each skill. */
  skills(scope: Scope, surroundings: Surroundings): string
}
