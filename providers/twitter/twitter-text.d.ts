declare module 'twitter-text' {
  interface UrlEntity {
    url: string;
    indices: [number, number];
  }
  interface TwitterText {
    parseTweet(text: string): { weightedLength: number; valid: boolean };
    extractUrlsWithIndices(text: string): UrlEntity[];
    extractCashtags(text: string): string[];
  }
  const twitterText: TwitterText;
  export default twitterText;
}
