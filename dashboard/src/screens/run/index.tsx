import type { ScreenProps } from '../screen.ts'

/** The screen Run. */
export function RunScreen({ parts }: ScreenProps) {
  return <p>{parts.join(' / ')}</p>
}
