import type { ScreenProps } from '../screen.ts'

/** The screen Workflows. */
export function WorkflowsScreen({ parts }: ScreenProps) {
  return <p>{parts.join(' / ')}</p>
}
