/**
 * What the dashboard needs: runs, actions, and the catalogue of tools and workflows.
 */

import type { RunEvent } from '../../protocol/run-state.ts'
import type { JsonObject } from '../../util/values.ts'
import type {
  ArtifactVerification,
  DashboardInfo,
  DecisionList,
  DoctorReport,
  EventPage,
  InputPreview,
  LogPage,
  PlanList,
  RunDetail,
  RunListChanges,
  RunPage,
  RunRow,
  StartedRun,
  ToolDetail,
  ToolList,
  WorkflowDetail,
  WorkflowRow,
} from '../model/api.ts'

/** Reads runs. Throws NOT_FOUND for what does not exist. */
export type RunsSource = {
  /** A page of runs; `query` as the address of the page has it. */
  list(query: URLSearchParams): Promise<RunPage>
  /** All runs that are known at this moment, newest first. */
  rows(): readonly RunRow[]
  detail(id: string): Promise<RunDetail>
  /**
   * Events of a run: `from` (seq, from 1), `limit`, `before` (the last ones before a seq), `type`,
   * `level`, `step`, `text`, `since`, `until`.
   */
  events(id: string, query: URLSearchParams): Promise<EventPage>
  log(id: string, query: URLSearchParams): Promise<LogPage>
  /** The bytes of an artifact that was kept. */
  artifact(
    id: string,
    index: number,
  ): Promise<{
    readonly name: string
    readonly bytes: number
    readonly body: AsyncIterable<Uint8Array>
  }>
  verify(id: string, index: number): Promise<ArtifactVerification>
  decisions(): Promise<DecisionList>
  plans(): Promise<PlanList>
  /**
   * News of the list since a version of it; resolves with each piece as it comes, the first at once
   * where there are some.
   */
  news(
    after: number | undefined,
    signal: AbortSignal,
  ): AsyncIterable<{ readonly version: number; readonly news: RunListChanges }>
  /**
   * The events of a run after a seq, as they come, until the signal. A run that is over waits for
   * its next attempt.
   */
  follow(id: string, after: number, signal: AbortSignal): AsyncIterable<readonly RunEvent[]>
  /** Changes with each start of the server. */
  readonly epoch: string
  close(): Promise<void>
}

/** Starts and changes runs. */
export type ActionsSource = {
  start(asked: {
    readonly tool: string
    readonly input: JsonObject
    readonly dry_run?: boolean
    readonly confirm?: boolean
  }): Promise<StartedRun>
  cancel(id: string, reason: string | undefined): Promise<void>
  resume(id: string): Promise<StartedRun>
  /** Starts the same again, under a new id, with another input where one is given. */
  retry(id: string, input: JsonObject | undefined, confirm: boolean): Promise<StartedRun>
  answer(id: string, question: string, value: unknown, note: string | undefined): Promise<void>
  clean(days: number): Promise<{ readonly removed: number; readonly bytes: number }>
}

/** What there is besides runs. */
export type CatalogueSource = {
  about(): DashboardInfo
  tools(): Promise<ToolList>
  tool(id: string): Promise<ToolDetail>
  preview(id: string, input: JsonObject): Promise<InputPreview>
  rescan(): Promise<ToolList>
  workflows(): Promise<{ readonly workflows: readonly WorkflowRow[] }>
  workflow(name: string): Promise<WorkflowDetail>
  doctor(): Promise<DoctorReport>
}

/** Everything behind the pages. */
export type DashboardBackend = {
  readonly runs: RunsSource
  readonly actions: ActionsSource
  readonly catalogue: CatalogueSource
}
