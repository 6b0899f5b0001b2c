import type { ScreenProps } from '../screen.ts'

/** The screen Tools. */
export function ToolsScreen({ parts }: ScreenProps) {
  return <p>{parts.join(' / ')}</p>
}
