import type { JsonObject, JsonSchema } from '../contract/json.ts'
import type { Permissions } from '../contract/manifest.ts'
import type { ChildCall } from '../registry/child/child-call.ts'

/** What a run is asked to do: `run.json`, written before anything starts, changed only by what `resume` is told, and all that it needs. It holds no secrets, only where they come from. */
export type RunRequest = {
  readonly v: 1
  readonly run_id: string
  /** `<source>.<tool>`. */
  readonly tool: string
  readonly version?: string
  readonly created: string
  /** Who asked for it: `person`, `workflow`, `dashboard`, or the name of an agent or a program; absent where nobody knows. */
  readonly caller?: string
  /** How it is started; absent for a tool that runs in another way than as a program (of an MCP server, of a module). */
  readonly call?: ChildCall
  /** What stood behind the name of the tool, as it was typed. */
  readonly args: readonly string[]
  /** For a tool that is not a program: its input. */
  readonly input?: { readonly [field: string]: unknown }
  /** It plans instead of acting. A program has been told by its arguments or its input. */
  readonly dry_run?: true
  /** Not a tool of the registry but a command of `toolable` itself that is run like one. */
  readonly command?: 'agent' | 'workflow'
  /** Of a workflow: what it is made of, by value, so that a file that changes meanwhile changes nothing. */
  readonly workflow?: {
    readonly definition: JsonObject
    readonly hash: string
    /** The file that it was read from. */ readonly file?: string
    /** The server that executes it, where it is not executed here. */ readonly server?: {
      readonly ingress: string
      readonly admin?: string
    }
  }
  /** The run that this one is a step of. */
  readonly parent?: { readonly run_id: string; readonly step: string }
  /** Which tools there were, so that one that is no program is found again. */
  readonly surroundings?: {
    readonly config?: string
    readonly folder?: readonly string[]
    readonly strict?: boolean
    readonly probeUnsandboxed?: boolean
    readonly cache?: boolean
  }
  readonly inputSchema?: JsonSchema
  /** Fields that stand without their flag, in their order. */
  readonly positional?: readonly string[]
  /** The directory of the caller: what relative paths mean. */
  readonly cwd: string
  /** What it may do, as its owner has written it, and the file in which that stands: it gets nothing else. Absent: it runs with its caller's rights, unless a policy forbids that. */
  readonly permissions?: Permissions
  readonly manifest?: string
  /** It starts other tools, and may tell about its tasks. */
  readonly orchestrator?: true
  /** Seconds; absent: as long as it takes. */
  readonly timeout_s?: number
  readonly heartbeat_grace_s: number
  /** How often a failure that may pass is tried again; 0 is never. */
  readonly retries: number
  readonly trace_id: string
  readonly traceparent?: string
  /** The span of whoever asked for the run. */
  readonly parent_span_id?: string
  readonly idempotency_key: string
  /** `--allow-level`: the weakest level that the caller accepts. */
  readonly allow_level?: 'L1' | 'L2' | 'L3'
  /** Where secrets are read from: name and file. */
  readonly secrets?: { readonly [name: string]: string }
  /** Answers that were given before anybody asked, by key or action. */
  readonly answers?: { readonly [key: string]: unknown }
  /** Which of them are text as it was typed, to be read as their question wants. */
  readonly typed_answers?: readonly string[]
}
