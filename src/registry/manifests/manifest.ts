import type { ForeignFacts } from '../found.ts'
import type { ChildCall } from '../child/child-call.ts'

/** How a program of a folder is started: through an interpreter, or as it is. */
export type Runner = 'python' | 'bash' | 'node' | 'exec'

/** A server that a manifest names, in the forms of the registry's own options. */
export type NamedServer =
  | {
      readonly protocol: 'mcp'
      readonly command: string
      readonly args: readonly string[]
      readonly env?: { readonly [name: string]: string }
    }
  | {
      readonly protocol: 'mcp' | 'call_tool'
      readonly url: string
      readonly headers?: { readonly [name: string]: string }
    }

/** A tool as a manifest describes it. Where its program lies is looked up each time, because that changes without the manifest. */
export type ToolFile = {
  readonly style: 'fractalic' | 'orchestration'
  readonly name: string
  readonly version?: string
  readonly facts: ForeignFacts
  /** As it is written; absent: the entry of the tool's own folder. */
  readonly entry?: string
  /** Absent: by the name of the entry. */
  readonly runner?: Runner
  readonly call: Omit<ChildCall, 'command'>
  /** It starts other tools, and may tell about its tasks. */
  readonly orchestrator?: true
  /** Arguments that make the program test itself. */
  readonly selftest?: readonly string[]
}

/** Tools of a server, or one of them, as a manifest describes it. */
export type ServerFile = {
  readonly style: 'fractalic'
  readonly name: string
  readonly server: NamedServer
  /** The one tool that the manifest describes, by its name on the server; absent: all of them. */
  readonly tool?: string
  readonly facts: ForeignFacts
}

export type ManifestFile = ToolFile | ServerFile
