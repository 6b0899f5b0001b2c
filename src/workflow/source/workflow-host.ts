import type { Registry } from '../../registry/registry-type.ts'
import type { RunRequest } from '../../runner/run-request.ts'

/** What stands around the workflows of a registry. */
export type WorkflowHost = {
  /** The registry itself: its tools are those of the steps. */
  opened(): Registry
  /** How the registry is opened again, by whoever resumes a run. */
  readonly surroundings?: RunRequest['surroundings']
  /** Where the registry stands: runs are recorded beside its configuration. */
  readonly cwd: string
  /** Executions that are under way. */
  readonly running: Set<Promise<unknown>>
  /** Aborted when the registry is closed. */
  readonly closed: AbortSignal
}
