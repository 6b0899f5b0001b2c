import type { JsonObject } from '../../contract/json.ts'
import type { Registry } from '../../registry/registry-type.ts'
import type { StartSubject } from '../../runner/attempt/subject.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { Question } from '../../runner/interactions/read-question.ts'
import type { ToolLine } from '../../runner/output/judge-line.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { PerformTool } from '../engines/engine-type.ts'

/** A question of a tool, and who asks it. Its id is that under which the workflow asks it. */
export type ForwardedQuestion = {
  readonly question: Question
  readonly context?: JsonObject
  readonly task: string
  /** The run of the tool, where it has one, and what it calls the question there. */ readonly run_id?: string
  readonly original: string
}

/** The tool of a step, as an engine wants it performed. */
export type StepCall = Parameters<PerformTool>[0]

/** What stands around the steps of workflows. */
export type StepHost = {
  readonly registry: Pick<Registry, 'find' | 'call' | 'describe' | 'prepare'>
  /** Where the runs of steps are recorded. */
  readonly runsFolder: string
  /** What relative paths mean. */
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  /** The trace that the runs of steps belong to. */
  readonly traceparent?: string | undefined
  /** Told what happens to tasks, in the lines of the run protocol. A promise holds the tool back. */
  readonly tell?: (line: ToolLine) => void | Promise<void>
  /** Runs a workflow that is the tool of a step, as a run of its own; without it such a tool is called like any other. */
  readonly startWorkflow?: (paths: RunPaths, request: RunRequest) => StartSubject
  /** Answers what tools ask; undefined where nobody does. */
  readonly ask?: (
    asked: ForwardedQuestion,
    signal: AbortSignal,
  ) => Promise<{ readonly value: unknown } | undefined>
  /** A try that ended because nobody answered its tool is no failure: it rejects with ANSWER_REQUIRED, and is left for the next attempt of its workflow. */
  readonly leavesUnanswered?: true
  /** Whether calls that are no runs are remembered by their key, so that an answer that was not recorded is not worked for again; default true. It costs two files for each call. */
  readonly remembers?: boolean
}
