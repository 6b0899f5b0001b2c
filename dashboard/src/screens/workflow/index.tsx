import type { ScreenProps } from '../screen.ts'

/** The screen Workflow. */
export function WorkflowScreen({ parts }: ScreenProps) {
  return <p>{parts.join(' / ')}</p>
}
