import type { ScreenProps } from '../screen.ts'

/** The screen Runs. */
export function RunsScreen({ parts }: ScreenProps) {
  return <p>{parts.join(' / ')}</p>
}
