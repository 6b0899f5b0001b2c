import type { AnyTool, Servable, ToolTree } from '../core/tool.ts'
import type { Prompt } from '../define/prompt.ts'
import type { Resource } from '../define/resource.ts'
import type { Guard } from '../protocol/context.ts'
import type { State } from '../protocol/state.ts'

export type { ChangeListener, OutputDefault, ToolsetChange } from '../core/tool.ts'

export type ToolsetOptions = Servable['options'] & {
  /** The program's name: 1 to 64 characters of `a-z 0-9 _ -`. */
  readonly name: string
  /** Default `0.1.0`. */
  readonly version?: string
  readonly tools?: ToolTree
  readonly resources?: readonly Resource[]
  readonly prompts?: readonly Prompt[]
  /** Decide about every call of its tools, on every surface, before the guards of the caller. */
  readonly guards?: readonly Guard[]
  /**
   * Where its calls work that bring no state of their own; default: each call has one for itself.
   */
  readonly state?: State
}

/** A toolset of the functions that a module exports, besides what else is named. */
export type ModuleToolsetOptions = Omit<ToolsetOptions, 'name'> & {
  /**
   * The module: `import.meta` of the one that this stands in, an address, a path, or the name of a
   * package.
   */
  readonly module: ImportMeta | URL | string
  /** Default: as the module or its package is called. */
  readonly name?: string
  /**
   * Refuse `any` as an input, and every export that looks like a tool and cannot be one; default
   * false.
   */
  readonly strict?: boolean
}

/** Tools, resources and prompts under one name: a program, and a unit for every other surface. */
export type Toolset = Servable & {
  readonly options: ToolsetOptions
  /** Adds a tool, under another name if one is given. */
  add(tool: AnyTool, name?: string): Toolset
  addResource(resource: Resource): Toolset
  addPrompt(prompt: Prompt): Toolset
  /**
   * Takes a tool out, by any spelling that finds it; calls that run go on. False when there is
   * none.
   */
  remove(name: string): boolean
  /** Takes out the resource of an address pattern. */
  removeResource(uri: string): boolean
  removePrompt(name: string): boolean
  /** Says that what stands at an address is different now, for those who subscribed to it. */
  resourceChanged(uri: string): void
  /**
   * Runs the command line and ends the process. With `import.meta`: only when that file is the
   * program's entry point.
   */
  run(entry?: ImportMeta): Promise<void>
}
