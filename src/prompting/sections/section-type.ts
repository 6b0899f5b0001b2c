import type { Guard } from '../../contract/guard.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { State } from '../../contract/state.ts'
import type { LazySchema } from '../../define/schema/schema.ts'
import type { InputOf, OutputOf } from '../../define/types.ts'
import type { ToolEntry, ToolTree } from '../../call/collect.ts'
import type { Finished } from '../../call/finished.ts'
import type { CallOptions } from '../../call/options.ts'
import type { SkillFolder } from './skills/skill-type.ts'
import type { Template } from './template.ts'

/** `summary` shows the summary of a section only, and keeps back its children and tools until it is opened. */
export type SectionVisibility = 'full' | 'summary'

/** What the functions of a section get besides the params. */
export type SectionContext = { readonly state: State | undefined }

type Params = Readonly<Record<string, unknown>>

/** What the functions of a section see: the params that it declares, and at run time those of its parents and of the prompt too. */
export type ParamsOf<Schema> = Schema extends LazySchema ? OutputOf<Schema> : Params

/** Everything an author may say about a section. Only `key` and `title` are required. */
export type SectionOptions<
  Schema extends LazySchema | undefined = LazySchema | undefined,
  Children extends readonly Section[] = readonly Section[],
> = {
  /** 1 to 64 characters of `a-z 0-9 _ -`, once in a prompt. */
  readonly key: string
  /** One line: the heading. */
  readonly title: string
  /** What the texts of the section take from the params of `render`. */
  readonly params?: Schema
  /** Markdown with `{{name}}` for params, or a function that gives Markdown as it is. */
  readonly body?:
    string | ((params: ParamsOf<Schema>, context: SectionContext) => string | Promise<string>)
  /** Offered to the model while the section is enabled and open. */
  readonly tools?: ToolTree
  /** Look at every call of a tool of the section and of its children. */
  readonly guards?: readonly Guard[]
  /** Default true. A section that is not enabled is not there, nor are its children and tools. */
  readonly enabled?:
    boolean | ((params: ParamsOf<Schema>, context: SectionContext) => boolean | Promise<boolean>)
  /** Default `full`. */
  readonly visibility?:
    | SectionVisibility
    | ((
        params: ParamsOf<Schema>,
        context: SectionContext,
      ) => SectionVisibility | Promise<SectionVisibility>)
  /** What is shown instead of the body while the section is not open; Markdown with `{{name}}` for params. */
  readonly summary?: string
  readonly children?: Children
}

/** The name that sections are known by, also from another copy of this package. */
export const brand: unique symbol = Symbol.for('toolable.section') as never
declare const given: unique symbol

/** A part of a prompt. `Given` is what it, and its children, need of the params of `render`. */
export type Section<Given = unknown> = {
  readonly [brand]: SectionDefinition
  readonly key: string
  readonly title: string
  readonly [given]?: Given
}

type GivenOf<Part> = Part extends Section<infer Given> ? Given : unknown
/** What all of the sections need together. */
export type GivenTogether<Parts extends readonly Section[]> = {
  [Index in keyof Parts]: (all: GivenOf<Parts[Index]>) => void
}[number] extends (all: infer All) => void
  ? All
  : never
/** What a caller gives for a schema. */
export type GivenFor<Schema> = Schema extends LazySchema ? InputOf<Schema> : unknown

/** A tool of a section, and how it is called where that is not by its definition alone. */
export type MountedTool = {
  readonly entry: ToolEntry
  readonly start?: (
    input: unknown,
    options: CallOptions,
  ) => Promise<Finished | { readonly outcome: Outcome }>
}

/** A checked section: what the prompt works with. */
export type SectionDefinition = {
  readonly key: string
  readonly title: string
  readonly params: LazySchema | undefined
  readonly body:
    Template | ((params: never, context: SectionContext) => string | Promise<string>) | undefined
  /** Asked each time, because what is mounted may change. */
  tools(): readonly MountedTool[]
  /** Loads what the definitions of the tools need. */
  prepare?(): Promise<void>
  readonly guards: readonly Guard[]
  readonly enabled:
    boolean | ((params: never, context: SectionContext) => boolean | Promise<boolean>)
  readonly visibility:
    | SectionVisibility
    | ((params: never, context: SectionContext) => SectionVisibility | Promise<SectionVisibility>)
  readonly summary: Template | (() => string) | undefined
  readonly children: readonly SectionDefinition[]
  /** The folder behind it, where it is a skill. */
  readonly skill?: SkillFolder
}
