require 'json'
require 'oauth'

base, user = ENV.values_at('BASE', 'USER_NAME')
consumer = OAuth::Consumer.new(
  ENV['CONSUMER_KEY'], ENV['CONSUMER_SECRET'],
  site: base, ca_file: ENV['CA_FILE'],
  request_token_path: '/oauth1/request_token', authorize_path: '/oauth1/authorize',
  access_token_path: '/oauth1/access_token'
)
request = consumer.get_request_token(oauth_callback: ENV['CALLBACK'])
script = "import('#{ENV['APPROVE']}').then(({ approve }) => approve(process.argv[1])).then((url) => " \
         "{ console.log(url.searchParams.get('oauth_verifier')); process.reallyExit(0); })"
verifier = IO.popen([ENV['NODE'], '-e', script, request.authorize_url], &:read).strip
access = request.get_access_token(oauth_verifier: verifier)
status = access.get("/users/#{user}/financialrecords").code
raise "the resource answers #{status}" unless status == '200'

puts JSON.generate(['three legs', 'resource'])
