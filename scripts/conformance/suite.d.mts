export type Check = {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
  readonly details?: unknown
}
export type Scenario = {
  readonly name: string
  readonly scored: boolean
  readonly passed: boolean
  readonly checks: readonly Check[]
}
export declare const extras: readonly string[]
export declare function runRequirements(url: string, revision: string): Promise<readonly Scenario[]>
export declare function runScenarios(
  url: string,
  names: readonly string[],
): Promise<readonly Scenario[]>
export declare function summarise(title: string, scenarios: readonly Scenario[]): string
