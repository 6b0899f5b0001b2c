import type { ScreenProps } from '../screen.ts'

/** The screen Tool. */
export function ToolScreen({ parts }: ScreenProps) {
  return <p>{parts.join(' / ')}</p>
}
