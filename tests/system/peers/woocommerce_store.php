<?php
/**
 * A store for the tests of deploy/woocommerce/cartbus.php, under `php -S`. WordPress' and WooCommerce's functions are STAND-INS, as few as
 * the plugin calls, written from their documentation: hooks, sessions, carts and transients behave as theirs do, and nothing else is
 * here. The plugin itself is the real one, and what it posts goes over real HTTP.
 *
 * CARTBUS_STORE names a folder of ours; its store.json has url, secret, consent and the plugin's path.
 */

define('ABSPATH', __DIR__);
define('STORE', getenv('CARTBUS_STORE'));
$conf = json_decode(file_get_contents(STORE . '/store.json'), true);
define('CARTBUS_URL', $conf['url']);
define('CARTBUS_SECRET', $conf['secret']);
if ($conf['consent'] !== null) {
	define('CARTBUS_CONSENT_TEXT', $conf['consent']);
}

/* ---- WordPress ---- */

$hooks = array();
function add_action($hook, $call, $priority = 10, $most = 1)
{
	$GLOBALS['hooks'][$hook][] = array($call, $most);
}
function do_action($hook, ...$arguments)
{
	foreach ($GLOBALS['hooks'][$hook] ?? array() as list($call, $most)) {
		$call(...array_slice($arguments, 0, $most));
	}
}
function stored($name, $otherwise)
{
	$path = STORE . "/$name.json";
	return is_file($path) ? json_decode(file_get_contents($path), true) : $otherwise;
}
function store($name, $value)
{
	file_put_contents(STORE . "/$name.json", json_encode($value));
}
function get_transient($name)
{
	$kept = stored("transient-$name", null);
	return $kept && $kept['until'] > time() ? $kept['value'] : false;
}
function set_transient($name, $value, $seconds)
{
	store("transient-$name", array('value' => $value, 'until' => time() + $seconds));
}
function delete_transient($name)
{
	@unlink(STORE . "/transient-$name.json");
}
function wp_remote_post($url, $options)
{
	$headers = array();
	foreach ($options['headers'] as $name => $value) {
		$headers[] = "$name: $value";
	}
	$context = stream_context_create(array('http' => array('method' => 'POST', 'header' => $headers, 'content' => $options['body'],
		'timeout' => $options['timeout'], 'ignore_errors' => true)));
	$answer = file_get_contents($url, false, $context);
	file_put_contents(STORE . '/posted.jsonl', json_encode(array(json_decode($options['body'], true), $http_response_header[0], $answer)) . "\n",
		FILE_APPEND);
}
function wp_json_encode($value)
{
	return json_encode($value);
}
function wp_generate_uuid4()
{
	return bin2hex(random_bytes(16));
}
function wp_unslash($value)
{
	return $value;
}
function wp_strip_all_tags($text)
{
	return strip_tags($text);
}
function sanitize_email($text)
{
	return preg_replace('/[^A-Za-z0-9.!#$%&\'*+\/=?^_`{|}~@-]/', '', $text);
}
function is_email($text)
{
	return filter_var($text, FILTER_VALIDATE_EMAIL);
}
function esc_html($text)
{
	return htmlspecialchars($text, ENT_QUOTES);
}
function determine_locale()
{
	return 'de_DE';
}
function get_current_user_id()
{
	return 0;
}
function add_query_arg($pairs, $url)
{
	return $url . '?' . http_build_query($pairs);
}
function wp_safe_redirect($url)
{
	header("Location: $url", true, 302);
}
function wp_get_attachment_image_url($id, $size)
{
	return $id ? "https://store.example/$id.jpg" : false;
}

/* ---- WooCommerce ---- */

const PRODUCTS = array(1 => array('Rose <b>rot</b>', 'R1', '4.50'), 2 => array('Vase', 'V1', '20.00'), 3 => array('Sold out', 'S1', '1.00'));

class Product
{
	private $id;
	public function __construct($id)
	{
		$this->id = $id;
	}
	public function get_name()
	{
		return PRODUCTS[$this->id][0];
	}
	public function get_sku()
	{
		return PRODUCTS[$this->id][1];
	}
	public function price()
	{
		return PRODUCTS[$this->id][2];
	}
	public function get_image_id()
	{
		return $this->id;
	}
	public function get_permalink()
	{
		return "https://store.example/product/$this->id";
	}
}

class Session
{
	public $data, $id;
	public function __construct()
	{
		$this->id = preg_replace('/[^a-f0-9]/', '', $_COOKIE['wc_session'] ?? '') ?: bin2hex(random_bytes(8));
		$this->data = stored("session-$this->id", array());
		$this->set_customer_session_cookie(true);
	}
	public function set_customer_session_cookie($set)
	{
		if (!headers_sent()) {
			setcookie('wc_session', $this->id);
		}
	}
	public function get($name, $otherwise = null)
	{
		return $this->data[$name] ?? $otherwise;
	}
	public function set($name, $value)
	{
		$this->data[$name] = $value;
	}
	public function save_data()
	{
		store("session-$this->id", $this->data);
	}
}

class Cart
{
	public function lines()
	{
		return WC()->session->get('lines', array());
	}
	public function get_cart()
	{
		$lines = array();
		foreach ($this->lines() as $line) {
			$lines[] = $line + array('data' => new Product($line['product_id']));
		}
		return $lines;
	}
	public function is_empty()
	{
		return !$this->lines();
	}
	public function add_to_cart($product, $quantity = 1, $variation_id = 0, $variation = array())
	{
		if ($product == 3 && WC()->session->get('sold_out')) {
			throw new Exception('sold out');
		}
		$lines = $this->lines();
		$lines[] = array('product_id' => $product, 'quantity' => $quantity, 'variation_id' => $variation_id, 'variation' => $variation);
		WC()->session->set('lines', $lines);
		do_action('woocommerce_add_to_cart', 'key', $product, $quantity);
	}
	public function clear()
	{
		WC()->session->set('lines', array());
		do_action('woocommerce_cart_item_removed', 'key');
	}
	public function get_applied_coupons()
	{
		return WC()->session->get('coupons', array());
	}
	public function apply_coupon($code)
	{
		WC()->session->set('coupons', array_merge($this->get_applied_coupons(), array($code)));
		do_action('woocommerce_applied_coupon', $code);
	}
	public function get_total($context)
	{
		$total = 0;
		foreach ($this->get_cart() as $line) {
			$total += $line['data']->price() * $line['quantity'];
		}
		return $total;
	}
}

class Customer
{
	public $email = '';
	public function get_billing_first_name()
	{
		return 'Ada';
	}
	public function get_billing_email()
	{
		return $this->email;
	}
}

class Order
{
	public $meta = array();
	public function update_meta_data($name, $value)
	{
		$this->meta[$name] = $value;
	}
}

function WC()
{
	static $store = null;
	if (!$store) {
		$store = new stdClass();
		$store->session = new Session();
		$store->cart = new Cart();
		$store->customer = new Customer();
	}
	return $store;
}
function woocommerce_form_field($name, $field, $value)
{
	echo '<label><input type="checkbox" name="' . $name . '"' . ($value ? ' checked' : '') . '> ' . $field['label'] . '</label>';
}
function wc_format_decimal($amount, $decimals)
{
	return number_format((float) $amount, $decimals, '.', '');
}
function wc_get_price_including_tax($product)
{
	return $product->price();
}
function wc_get_price_decimals()
{
	return 2;
}
function get_woocommerce_currency()
{
	return 'EUR';
}
function wc_get_cart_url()
{
	return 'https://store.example/cart/';
}

/* ---- the store ---- */

require $conf['plugin'];

register_shutdown_function(function () {
	do_action('shutdown');
	WC()->session->save_data();
});
WC();
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
switch ($path) {
	case '/add':
		WC()->cart->add_to_cart((int) $_GET['product'], (int) ($_GET['quantity'] ?? 1));
		break;
	case '/coupon':
		WC()->cart->apply_coupon($_GET['code']);
		break;
	case '/empty':
		WC()->cart->clear();
		break;
	case '/sell-out':
		WC()->session->set('sold_out', true);
		break;
	case '/checkout':
		do_action('woocommerce_after_checkout_billing_form');
		break;
	case '/review': // the classic checkout's own request while the form is filled in
		do_action('woocommerce_checkout_update_order_review', file_get_contents('php://input'));
		break;
	case '/block': // the block's
		WC()->customer->email = $_GET['email'];
		do_action('woocommerce_store_api_cart_update_customer_from_request', WC()->customer, null);
		break;
	case '/order':
		$order = new Order();
		do_action('woocommerce_checkout_create_order', $order);
		WC()->session->set('lines', array());
		do_action('woocommerce_thankyou', 1);
		echo json_encode($order->meta);
		break;
	case '/cart/':
		do_action('template_redirect');
		echo json_encode(array('lines' => WC()->cart->lines(), 'coupons' => WC()->cart->get_applied_coupons()));
		break;
	default:
		http_response_code(404);
}
